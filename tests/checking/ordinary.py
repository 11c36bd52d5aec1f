"""Ordinary workbooks without a mistake, as people make them: `check` must let them be."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, time
from pathlib import Path
from random import Random
from typing import Any

import openpyxl
from openpyxl.styles import Font, PatternFill
from openpyxl.utils import get_column_letter as letter
from openpyxl.worksheet.worksheet import Worksheet

BOLD, YELLOW = Font(bold=True), PatternFill("solid", fgColor="FFFF99")
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def put(sheet: Worksheet, cell: str, rows: list[list[Any]]) -> None:
    """Write rows from a cell on; None leaves a cell blank."""
    first = sheet[cell]
    for down, row in enumerate(rows):
        for right, value in enumerate(row):
            if value is not None:
                sheet.cell(first.row + down, first.column + right, value)


def budget(book: openpyxl.Workbook, chance: Random) -> None:
    sheet = book.active
    put(sheet, "A1", [["Household budget 2026"], [], ["Income", *MONTHS, "Total", "Average"]])
    names = ["Salary", "Bonus", "Interest"]
    for row, name in enumerate(names, 4):
        months = [
            chance.randint(1000, 3000) if name != "Bonus" or m in (5, 11) else None for m in range(12)
        ]
        put(sheet, f"A{row}", [[name, *months, f"=SUM(B{row}:M{row})", f"=N{row}/12"]])
    put(sheet, "A7", [["Total income", *(f"=SUM({letter(c)}4:{letter(c)}6)" for c in range(2, 16))]])
    put(sheet, "A9", [["Expenses", *MONTHS, "Total", "Share"]])
    for row, name in enumerate(["Rent", "Food", "Car", "Phone", "Holidays", "Other"], 10):
        months = [850 if name == "Rent" else chance.randint(0, 400) for _ in range(12)]
        put(sheet, f"A{row}", [[name, *months, f"=SUM(B{row}:M{row})", f"=N{row}/N$16"]])
    put(
        sheet,
        "A16",
        [["Total expenses", *(f"=SUM({letter(c)}10:{letter(c)}15)" for c in range(2, 16))]],
    )
    put(sheet, "A18", [["Left over", *(f"={letter(c)}7-{letter(c)}16" for c in range(2, 15))]])
    put(
        sheet,
        "A19",
        [["Savings", "=1500+B18", *(f"={letter(c - 1)}19+{letter(c)}18" for c in range(3, 14))]],
    )
    put(sheet, "A21", [["Best month", "=MAX(B18:M18)"], ["Worst month", "=MIN(B18:M18)"]])


def gradebook(book: openpyxl.Workbook, chance: Random) -> None:
    sheet = book.active
    sheet.merge_cells("A1:H1")
    put(
        sheet,
        "A1",
        [
            ["Physics 101, section B"],
            [None, "Quiz 1", "Quiz 2", "Quiz 3", "Midterm", "Final", "Weighted", "Grade", "Rank"],
        ],
    )
    put(
        sheet,
        "A3",
        [["Weight", 0.1, 0.1, 0.1, 0.3, 0.4, "=SUM(B3:F3)"], ["Out of", 20, 20, 25, 100, 100]],
    )
    for row in range(6, 24):
        scores: list[Any] = [
            chance.randint(8, 20),
            chance.randint(8, 20),
            chance.randint(9, 25),
            chance.randint(40, 100),
            chance.randint(40, 100),
        ]
        if row in (9, 17):
            scores[row % 3] = None
        weighted = "=" + "+".join(f"{c}$3*{c}{row}/{c}$4" for c in "BCDEF")
        put(
            sheet,
            f"A{row}",
            [
                [
                    f"Student {row - 5}",
                    *scores,
                    weighted,
                    f'=IF(G{row}>=0.9,"A",IF(G{row}>=0.8,"B",IF(G{row}>=0.65,"C","D")))',
                    f"=RANK(G{row},$G$6:$G$23)",
                ]
            ],
        )
    for row, (name, function) in enumerate(
        [("Average", "AVERAGE"), ("Highest", "MAX"), ("Lowest", "MIN"), ("St. dev.", "STDEV")], 25
    ):
        put(sheet, f"A{row}", [[name, *(f"={function}({c}6:{c}23)" for c in "BCDEFG")]])
    put(
        sheet,
        "K5",
        [
            ["Grade", "Number", "Share"],
            *(
                [g, f"=COUNTIF($H$6:$H$23,K{r})", f"=L{r}/SUM($L$6:$L$9)"]
                for r, g in enumerate("ABCD", 6)
            ),
        ],
    )


def loan(book: openpyxl.Workbook, chance: Random) -> None:
    sheet = book.active
    put(
        sheet,
        "B2",
        [
            ["Loan amount", 250000],
            ["Annual interest", 0.0375],
            ["Years", 5],
            ["Extra payment", 100],
            ["Payment", "=PMT(C3/12,C4*12,-C2)"],
        ],
    )
    put(
        sheet,
        "B8",
        [["No.", "Opening", "Interest", "Principal", "Extra", "Closing", "Cumulative interest"]],
    )
    for n in range(60):
        row = 9 + n
        opening = "=C2" if n == 0 else f"=G{row - 1}"
        total = f"=D{row}" if n == 0 else f"=H{row - 1}+D{row}"
        put(
            sheet,
            f"B{row}",
            [
                [
                    1 if n == 0 else f"=B{row - 1}+1",
                    opening,
                    f"=C{row}*$C$3/12",
                    f"=MIN(C{row},$C$6-D{row})",
                    f"=MIN(C{row}-E{row},$C$5)",
                    f"=C{row}-E{row}-F{row}",
                    total,
                ]
            ],
        )
    put(sheet, "B69", [["Total", None, "=SUM(D9:D68)", "=SUM(E9:E68)", "=SUM(F9:F68)"]])
    put(
        sheet,
        "E2",
        [["Total interest", "=D69"], ["Total paid", "=D69+E69+F69"], ["Interest share", "=F2/F3"]],
    )


def forecast(book: openpyxl.Workbook, chance: Random) -> None:
    sheet = book.active
    sheet.title = "Forecast"
    years = [2021 + n for n in range(10)]
    put(
        sheet,
        "A1",
        [
            ["Assumptions"],
            ["Growth to 2027", 0.02],
            ["Growth from 2028", 0.035],
            ["Tax rate", 0.25],
            ["Inflation", 0.021],
        ],
    )
    put(sheet, "A7", [["", *years]])
    columns = [letter(c) for c in range(2, 12)]
    actual = [1000, 1080, 1150]
    revenue = [
        *actual,
        *(f"={columns[n - 1]}8*(1+{'$B$2' if n < 7 else '$B$3'})" for n in range(3, 10)),
    ]
    cogs = [
        400,
        431,
        455,
        *(f"={columns[n]}8*AVERAGE($B$9:$D$9)/AVERAGE($B$8:$D$8)" for n in range(3, 10)),
    ]
    staff = [300, 310, 322, *(f"={columns[n - 1]}10*(1+$B$5)" for n in range(3, 10))]
    put(sheet, "A8", [["Revenue", *revenue], ["Cost of goods", *cogs], ["Staff", *staff]])
    put(
        sheet,
        "A11",
        [
            ["EBIT", *(f"={c}8-{c}9-{c}10" for c in columns)],
            ["Tax", *(f"={c}11*$B$4" for c in columns)],
            ["Net income", *(f"={c}11-{c}12" for c in columns)],
            ["Margin", *(f"={c}13/{c}8" for c in columns)],
        ],
    )
    put(
        sheet, "A15", [["Growth", None, *(f"={columns[n]}8/{columns[n - 1]}8-1" for n in range(1, 10))]]
    )
    put(
        sheet,
        "A17",
        [
            ["CAGR", "=(K8/B8)^(1/9)-1"],
            ["NPV", "=NPV(0.08,E13:K13)"],
            ["Average margin", "=AVERAGE(B14:K14)"],
        ],
    )
    sheet["E7"].fill = YELLOW


def quarters(book: openpyxl.Workbook, chance: Random) -> None:
    sheet = book.active
    heads: list[str] = []
    for q in range(4):
        heads += [*MONTHS[3 * q : 3 * q + 3], f"Q{q + 1}"]
    put(sheet, "A2", [["Units sold", *heads, "Year"]])
    row = 3
    subtotals = []
    for region, shops in [("North", 3), ("South", 4), ("West", 2)]:
        sheet.cell(row, 1, region).font = BOLD
        first = row + 1
        for shop in range(shops):
            row += 1
            cells: list[Any] = [f"Shop {shop + 1}"]
            for q in range(4):
                left = 2 + 4 * q
                cells += [chance.randint(5, 90) for _ in range(3)]
                cells.append(f"=SUM({letter(left)}{row}:{letter(left + 2)}{row})")
            put(sheet, f"A{row}", [[*cells, f"=E{row}+I{row}+M{row}+Q{row}"]])
        row += 1
        put(
            sheet,
            f"A{row}",
            [
                [
                    f"Total {region}",
                    *(f"=SUM({letter(c)}{first}:{letter(c)}{row - 1})" for c in range(2, 19)),
                ]
            ],
        )
        subtotals.append(row)
        row += 1
    put(
        sheet,
        f"A{row + 1}",
        [
            [
                "All regions",
                *("=" + "+".join(f"{letter(c)}{r}" for r in subtotals) for c in range(2, 19)),
            ]
        ],
    )
    put(sheet, f"A{row + 2}", [["Best quarter", f"=MAX(E{row + 1},I{row + 1},M{row + 1},Q{row + 1})"]])


def calendar(book: openpyxl.Workbook, chance: Random) -> None:
    sheet = book.active
    put(
        sheet,
        "A1",
        [
            ["Year", 2027],
            ["Month", 2],
            ["First day", "=DATE(B1,B2,1)"],
            ["Starts on", "=B3-WEEKDAY(B3,2)+1"],
        ],
    )
    put(sheet, "A6", [["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Week"]])
    for week in range(6):
        row = 7 + week
        first = "=B4" if week == 0 else f"=G{row - 1}+1"
        put(
            sheet,
            f"A{row}",
            [
                [
                    first,
                    *(f"={letter(c - 1)}{row}+1" for c in range(2, 8)),
                    f"=INT((A{row}-DATE(YEAR(A{row}),1,1))/7)+1",
                ]
            ],
        )
    put(
        sheet,
        "J6",
        [
            ["Appointments", "Day"],
            ["Dentist", "=DATE(B1,B2,9)"],
            ["Exam", "=DATE(B1,B2,17)"],
            ["Days left", "=K8-K7"],
        ],
    )


def invoice(book: openpyxl.Workbook, chance: Random) -> None:
    sheet = book.active
    put(sheet, "A1", [["ACME Ltd"], ["Invoice", 1043], ["Date", date(2026, 3, 4)], ["Due", "=B3+30"]])
    put(sheet, "A7", [["Item", "Quantity", "Unit price", "Discount", "Amount"]])
    for n in range(12):
        row = 8 + n
        line: list[Any] = (
            [
                f"Item {n + 1}",
                chance.randint(1, 9),
                chance.randint(100, 999) / 10,
                0.1 if n == 2 else None,
            ]
            if n < 7
            else [None] * 4
        )
        put(sheet, f"A{row}", [[*line, f'=IF(B{row}="","",B{row}*C{row}*(1-D{row}))']])
    put(
        sheet,
        "D20",
        [
            ["Subtotal", "=SUM(E8:E19)"],
            ["Shipping", 12.5],
            ["VAT 20 %", "=ROUND((E20+E21)*0.2,2)"],
            ["Total", "=SUM(E20:E22)"],
            ["Paid", 100],
            ["Balance", "=E23-E24"],
        ],
    )


def inventory(book: openpyxl.Workbook, chance: Random) -> None:
    sheet, prices = book.active, book.create_sheet("Prices")
    sheet.title = "Stock"
    put(prices, "A1", [["Code", "Name", "Category", "Price", "Supplier"]])
    for n in range(25):
        put(
            prices,
            f"A{n + 2}",
            [[f"P{n:03}", f"Part {n}", chance.choice("ABC"), chance.randint(2, 80), "S" + str(n % 4)]],
        )
    put(sheet, "A1", [["Code", "Name", "On hand", "Minimum", "Order", "Price", "Value"]])
    for n in range(18):
        row = n + 2
        put(
            sheet,
            f"A{row}",
            [
                [
                    f"P{n:03}",
                    f"=VLOOKUP(A{row},Prices!$A$2:$E$26,2,FALSE)",
                    chance.randint(0, 40),
                    10,
                    f"=IF(C{row}<D{row},D{row}*2-C{row},0)",
                    f"=VLOOKUP(A{row},Prices!$A$2:$E$26,4,FALSE)",
                    f"=C{row}*F{row}",
                ]
            ],
        )
    put(sheet, "F20", [["Total", "=SUM(G2:G19)"]])
    put(
        sheet,
        "I1",
        [
            ["Category", "Parts", "Mean price"],
            *(
                [
                    c,
                    f"=COUNTIF(Prices!$C$2:$C$26,I{r})",
                    f"=IF(J{r}=0,0,SUMIF(Prices!$C$2:$C$26,I{r},Prices!$D$2:$D$26)/J{r})",
                ]
                for r, c in enumerate("ABC", 2)
            ),
        ],
    )
    put(sheet, "I7", [["To order", '=COUNTIF(E2:E19,">0")'], ["Cost", "=SUMPRODUCT(E2:E19,F2:F19)"]])


def timesheet(book: openpyxl.Workbook, chance: Random) -> None:
    sheet = book.active
    put(sheet, "A1", [["Employee", "J. Doe"], ["Rate", 21.5], ["Overtime factor", 1.5]])
    row = 5
    totals = []
    for week in range(4):
        put(
            sheet,
            f"A{row}",
            [[f"Week {week + 1}", "Start", "End", "Break", "Hours", "Overtime", "Pay"]],
        )
        for day, name in enumerate(["Mon", "Tue", "Wed", "Thu", "Fri"]):
            r = row + 1 + day
            put(
                sheet,
                f"A{r}",
                [
                    [
                        name,
                        time(8 + chance.randint(0, 1), 30),
                        time(17 + chance.randint(0, 2), 15),
                        time(0, 45),
                        f"=(C{r}-B{r}-D{r})*24",
                        f"=MAX(0,E{r}-8)",
                        f"=$B$2*(E{r}-F{r}+F{r}*$B$3)",
                    ]
                ],
            )
        r = row + 6
        put(
            sheet,
            f"A{r}",
            [["Total", None, None, None, *(f"=SUM({c}{row + 1}:{c}{row + 5})" for c in "EFG")]],
        )
        totals.append(r)
        row += 8
    put(
        sheet,
        f"A{row}",
        [["Month", None, None, None, *("=" + "+".join(f"{c}{r}" for r in totals) for c in "EFG")]],
    )
    put(
        sheet,
        "I5",
        [
            ["Week", "Hours", "Pay"],
            *([f"Week {n + 1}", f"=E{r}", f"=G{r}"] for n, r in enumerate(totals)),
            ["Mean", "=AVERAGE(J6:J9)", "=AVERAGE(K6:K9)"],
        ],
    )


def survey(book: openpyxl.Workbook, chance: Random) -> None:
    data, stats = book.active, book.create_sheet("Statistics")
    data.title = "Answers"
    put(data, "A1", [["ID", "Age", "Q1", "Q2", "Q3", "Q4", "Score"]])
    for n in range(40):
        row = n + 2
        answers = [chance.randint(1, 5) for _ in range(4)]
        put(data, f"A{row}", [[n + 1, chance.randint(18, 70), *answers, f"=AVERAGE(C{row}:F{row})"]])
    put(stats, "A1", [["", "Q1", "Q2", "Q3", "Q4"]])
    for row, f in enumerate(["AVERAGE", "MEDIAN", "STDEV", "MIN", "MAX", "COUNT"], 2):
        put(stats, f"A{row}", [[f.title(), *(f"={f}(Answers!{c}$2:{c}$41)" for c in "CDEF")]])
    put(stats, "A10", [["Answer", "Q1", "Q2", "Q3", "Q4"]])
    for k in range(1, 6):
        put(stats, f"A{10 + k}", [[k, *(f"=COUNTIF(Answers!{c}$2:{c}$41,$A{10 + k})" for c in "CDEF")]])
        put(stats, f"G{10 + k}", [[f"={c}{10 + k}/{c}$16" for c in "BCDE"]])
    put(stats, "A16", [["Total", *(f"=SUM({c}11:{c}15)" for c in "BCDE")]])
    put(stats, "A19", [["Correlation", "Q1", "Q2", "Q3", "Q4"]])
    for r, a in enumerate("CDEF", 20):
        put(
            stats,
            f"A{r}",
            [
                [
                    f"Q{r - 19}",
                    *(
                        (1 if a == b else f"=CORREL(Answers!${a}$2:${a}$41,Answers!{b}$2:{b}$41)")
                        for b in "CDEF"
                    ),
                ]
            ],
        )
    put(
        stats,
        "A26",
        [
            ["Under 40", '=AVERAGEIF(Answers!B2:B41,"<40",Answers!G2:G41)'],
            ["40 and over", '=AVERAGEIF(Answers!B2:B41,">=40",Answers!G2:G41)'],
            ["t", "=(B26-B27)/SQRT(VAR(Answers!G2:G41)/20)"],
        ],
    )


def regression(book: openpyxl.Workbook, chance: Random) -> None:
    sheet = book.active
    put(
        sheet,
        "A1",
        [["Spring constant"], [], ["mass / kg", "x / m", "force / N", "fit", "residual", "squared"]],
    )
    for row in range(4, 16):
        put(
            sheet,
            f"A{row}",
            [
                [
                    (row - 3) / 10,
                    0.031 * (row - 3) + chance.random() / 200,
                    f"=A{row}*9.81",
                    f"=$I$4+$I$3*B{row}",
                    f"=C{row}-D{row}",
                    f"=E{row}^2",
                ]
            ],
        )
    put(
        sheet,
        "H3",
        [
            ["k", "=SLOPE(C4:C15,B4:B15)"],
            ["intercept", "=INTERCEPT(C4:C15,B4:B15)"],
            ["R2", "=RSQ(C4:C15,B4:B15)"],
            ["s", "=SQRT(F16/10)"],
        ],
    )
    put(sheet, "E16", [["Sum", "=SUM(F4:F15)"]])
    put(
        sheet,
        "A18",
        [["mean", "=AVERAGE(B4:B15)", "=AVERAGE(C4:C15)"], ["max", "=MAX(B4:B15)", "=MAX(C4:C15)"]],
    )


def departments(book: openpyxl.Workbook, chance: Random) -> None:
    """Sheets of one form and a summary over them; the summary's last sheet came later."""
    summary = book.active
    summary.title = "Summary"
    names = ["Sales", "Marketing", "IT", "HR"]
    for name in names:
        sheet = book.create_sheet(name)
        put(sheet, "A1", [[name], ["", "Plan", "Actual", "Difference", "%"]])
        items = ["Salaries", "Travel", "Training", "Equipment"][: 4 if name != "HR" else 3]
        for row, item in enumerate(items, 3):
            put(
                sheet,
                f"A{row}",
                [
                    [
                        item,
                        chance.randint(10, 90),
                        chance.randint(10, 90),
                        f"=C{row}-B{row}",
                        f"=D{row}/B{row}",
                    ]
                ],
            )
        r = 3 + len(items)
        put(
            sheet,
            f"A{r}",
            [["Total", f"=SUM(B3:B{r - 1})", f"=SUM(C3:C{r - 1})", f"=C{r}-B{r}", f"=D{r}/B{r}"]],
        )
    put(summary, "A1", [["Department", "Plan", "Actual", "Difference"]])
    for row, name in enumerate(names, 2):
        r = 7 if name != "HR" else 6
        put(summary, f"A{row}", [[name, f"={name}!B{r}", f"={name}!C{r}", f"=C{row}-B{row}"]])
    put(summary, "A6", [["Total", "=SUM(B2:B5)", "=SUM(C2:C5)", "=C6-B6"]])
    put(summary, "A8", [["Exchange rate", 1.08], ["Total in $", "=C6*B8"]])


def tournament(book: openpyxl.Workbook, chance: Random) -> None:
    """A round robin: a cross table with an empty diagonal, points and ranks; Elo after five rounds."""
    sheet = book.active
    players = ["Ann", "Bob", "Cy", "Dee", "Eve", "Flo"]
    put(sheet, "A1", [["", *players, "Points", "Rank"]])
    results = [[None if i == j else chance.choice([0, 0.5, 1]) for j in range(6)] for i in range(6)]
    for row, (name, scores) in enumerate(zip(players, results), 2):
        put(sheet, f"A{row}", [[name, *scores, f"=SUM(B{row}:G{row})", f"=RANK(H{row},$H$2:$H$7)"]])
    put(sheet, "A10", [["Elo", "Start", *(f"Round {n}" for n in range(1, 6)), "Change"]])
    put(
        sheet,
        "L10",
        [
            ["Scores", *range(1, 6)],
            *([name, *(chance.choice([0, 0.5, 1]) for _ in range(5))] for name in players),
        ],
    )
    for row, name in enumerate(players, 11):
        put(
            sheet,
            f"A{row}",
            [
                [
                    name,
                    chance.randint(1200, 1900),
                    *(f"={letter(c)}{row}+20*({letter(c + 11)}{row}-0.5)" for c in range(2, 7)),
                    f"=G{row}-B{row}",
                ]
            ],
        )


def sales(book: openpyxl.Workbook, chance: Random) -> None:
    """Regions with shares and ranks, growth, the data of a chart and a number in a note."""
    s = book.active
    put(s, "A1", [["Region", "Jan", "Feb", "Mar", "Quarter", "Share", "Rank"]])
    for r, name in enumerate(("North", "South", "East", "West"), 2):
        months = [chance.randint(50, 99) for _ in range(3)]
        put(s, f"A{r}", [[name, *months, f"=SUM(B{r}:D{r})", f"=E{r}/E$6", f"=RANK(E{r},E$2:E$5)"]])
    put(s, "A6", [["Total", *(f"=SUM({c}2:{c}5)" for c in "BCDEF")]])
    put(s, "A7", [["Average", *(f"=AVERAGE({c}2:{c}5)" for c in "BCDE")]])
    put(s, "A9", [["Growth", None, "=C6/B6-1", "=D6/C6-1"], [], ["Chart"], ["Month", "Total"]])
    put(s, "A13", [["Jan", "=B6"], ["Feb", "=C6"], ["Mar", "=D6"]])
    put(s, "I2", [["check with Ann"], [120]])


def recipe(book: openpyxl.Workbook, chance: Random) -> None:
    """Amounts for other servings; an ingredient without a price."""
    s = book.active
    put(s, "A1", [["Servings", 4], ["Wanted", 10]])
    put(s, "A4", [["Ingredient", "Amount", "Scaled", "Price", "Cost"]])
    for r, name in enumerate(("Flour", "Milk", "Eggs", "Sugar", "Oil"), 5):
        amount, price = chance.randint(1, 300), chance.random()
        put(s, f"A{r}", [[name, amount, f"=B{r}*$B$2/$B$1", price, f"=C{r}*D{r}"]])
    put(s, "A10", [["Salt"], ["Total", None, None, None, "=SUM(E5:E10)"]])
    put(s, "A12", [["Each", None, None, None, "=E11/B2"]])


def cash_flow(book: openpyxl.Workbook, chance: Random) -> None:
    """Twelve months, each opened by the one before; a tax every quarter."""
    s = book.active
    months = [letter(c) for c in range(2, 14)]
    put(s, "A1", [["Item", *(f"M{n}" for n in range(1, 13)), "Year"]])
    put(s, "A2", [["Opening", 1000, *(f"={c}9" for c in months[:-1]), "=B2"]])
    for r, name in ((3, "Sales"), (4, "Other"), (6, "Wages")):
        put(s, f"A{r}", [[name, *(chance.randint(0, 400) for _ in months), f"=SUM(B{r}:M{r})"]])
    put(s, "A5", [["In", *(f"={c}3+{c}4" for c in months), "=SUM(B5:M5)"]])
    taxes = [f"={c}5*0.2" if n % 3 == 2 else None for n, c in enumerate(months)]
    put(s, "A7", [["Tax", *taxes, "=SUM(B7:M7)"]])
    put(s, "A8", [["Out", *(f"=SUM({c}6:{c}7)" for c in months), "=SUM(B8:M8)"]])
    put(s, "A9", [["Closing", *(f"={c}2+{c}5-{c}8" for c in months), "=M9"]])


def laboratory(book: openpyxl.Workbook, chance: Random) -> None:
    """A falling body: central differences, which leave out the ends, a fit and its residuals."""
    s = book.active
    put(s, "A1", [["t", "x", "v", "a", "model", "residual"]])
    for r in range(2, 22):
        t = (r - 2) / 10
        x = 4.9 * t * t + chance.uniform(-0.02, 0.02)
        row = [t, x, None, None, f"=$I$2*A{r}^2", f"=(B{r}-E{r})^2"]
        if 2 < r < 21:
            row[2] = f"=(B{r + 1}-B{r - 1})/(A{r + 1}-A{r - 1})"
        if 3 < r < 20:
            row[3] = f"=(C{r + 1}-C{r - 1})/(A{r + 1}-A{r - 1})"
        put(s, f"A{r}", [row])
    squares = "A2:A21^2"
    put(s, "H1", [["Fit"], ["g/2", f"=SUMPRODUCT({squares},B2:B21)/SUMPRODUCT({squares},{squares})"]])
    put(s, "H3", [["g", "=2*I2"], ["mean", "=AVERAGE(D4:D19)"]])
    put(s, "H5", [["RMSE", "=SQRT(SUM(F2:F21)/COUNT(F2:F21))"]])


def payroll(book: openpyxl.Workbook, chance: Random) -> None:
    """Tax bands to look up, a bonus for two, a hidden row, summaries of different kinds below."""
    s = book.active
    put(s, "A1", [["Bands"], ["from", "rate"], [0, 0], [1000, 0.1], [2000, 0.2], [4000, 0.3]])
    put(s, "A8", [["Name", "Hours", "Rate", "Gross", "Band", "Tax", "Net", "Bonus"]])
    for r, name in enumerate(("Ann", "Bob", "Cy", "Dee", "Eve", "Flo"), 9):
        pay = [chance.randint(20, 170), chance.randint(15, 30), f"=B{r}*C{r}"]
        band = f"=VLOOKUP(D{r},$A$3:$B$6,2)"
        bonus = 50 if r in (10, 13) else None
        put(s, f"A{r}", [[name, *pay, band, f"=D{r}*E{r}", f"=D{r}-F{r}+H{r}", bonus]])
    sums = [f"=SUM({c}9:{c}14)" if c not in "CE" else None for c in "BCDEFGH"]
    put(s, "A15", [["Total", *sums], ["Max", None, "=MAX(C9:C14)", "=MAX(D9:D14)"]])
    put(s, "A17", [["Mean", None, None, "=D15/B15"]])
    s.row_dimensions[11].hidden = True


ORDINARY: list[Callable[[openpyxl.Workbook, Random], None]] = [
    budget, gradebook, loan, forecast, quarters, calendar, invoice, inventory, timesheet, survey,
    regression, departments, tournament, sales, recipe, cash_flow, laboratory, payroll,
]  # fmt: skip


def made(maker: Callable[[openpyxl.Workbook, Random], None], folder: Path) -> Path:
    """A workbook of a maker, without stored values, as openpyxl writes it."""
    book = openpyxl.Workbook()
    maker(book, Random(7))
    path = folder / f"{maker.__name__}.xlsx"
    book.save(path)
    return path
