/* Self-attention as writers.py has it, written by libxlsxwriter: ./a.out table.bin out.xlsx
 *
 * table.bin holds words and dimensions as two doubles, then the numbers row by row. Reading a
 * spreadsheet is left out, which favours this program. Compile with cc -O2 ... -lxlsxwriter -lm.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <xlsxwriter.h>

static int n, d;
static lxw_workbook *book;
static lxw_worksheet *sheet;
static lxw_format *style;
static char (*column)[LXW_MAX_COL_NAME_LENGTH];

static void start(const char *name, int columns, const char *label) {
    char text[32];
    sheet = workbook_add_worksheet(book, name);
    worksheet_write_string(sheet, 0, 0, name, NULL);
    for (int j = 0; j < columns; j++) {
        snprintf(text, sizeof text, "%s%d", label, j + 1);
        worksheet_write_string(sheet, 3, j + 1, text, NULL);
    }
}

static void word(int i) {
    char text[32];
    snprintf(text, sizeof text, "word%d", i + 1);
    worksheet_write_string(sheet, i + 4, 0, text, NULL);
}

static void formula(int i, int at, double value, const char *format, ...) {
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    worksheet_write_formula_num(sheet, i + 4, at, text, style, value);
}

int main(int count, char **arguments) {
    double size[2];
    FILE *file = count == 3 ? fopen(arguments[1], "rb") : NULL;
    if (!file || fread(size, sizeof(double), 2, file) != 2) return 1;
    n = size[0], d = size[1];
    double *x = malloc(sizeof(double) * n * d), *scores = malloc(sizeof(double) * n * n);
    double *powers = malloc(sizeof(double) * n * n), *total = calloc(n, sizeof(double));
    double *maximum = malloc(sizeof(double) * n), *output = calloc((size_t)n * d, sizeof(double));
    if (fread(x, sizeof(double), (size_t)n * d, file) != (size_t)n * d) return 1;
    for (int i = 0; i < n; i++) {
        maximum[i] = -INFINITY;
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < d; k++) sum += x[i * d + k] * x[j * d + k];
            scores[i * n + j] = sum;
            maximum[i] = fmax(maximum[i], sum / sqrt(d));
        }
        for (int j = 0; j < n; j++)
            total[i] += powers[i * n + j] = exp(scores[i * n + j] / sqrt(d) - maximum[i]);
        for (int j = 0; j < n; j++)
            for (int k = 0; k < d; k++)
                output[i * d + k] += powers[i * n + j] / total[i] * x[j * d + k];
    }
    column = malloc(sizeof *column * (2 * n + d + 10));
    for (int j = 0; j < 2 * n + d + 10; j++) lxw_col_to_name(column[j], j, 0);
    const char *last_word = column[n], *last_dim = column[d];

    lxw_workbook_options options = {.constant_memory = LXW_TRUE};
    book = workbook_new_opt(arguments[2], &options);
    style = workbook_add_format(book);
    format_set_num_format(style, "0.000");
    workbook_define_name(book, "d_k", "=Q!$A$1");
    start("Input", d, "d");
    for (int i = 0; i < n; i++) {
        word(i);
        for (int j = 0; j < d; j++)
            worksheet_write_number(sheet, i + 4, j + 1, x[i * d + j], style);
    }
    for (int m = 0; m < 3; m++) {
        start((const char *[]){"Q", "K", "V"}[m], d, "d");
        for (int i = 0; i < n; i++) {
            word(i);
            for (int j = 0; j < d; j++)
                formula(i, j + 1, x[i * d + j], "=Input!%s%d", column[j + 1], i + 5);
        }
    }
    start("Scores", n, "word");
    for (int i = 0; i < n; i++) {
        word(i);
        for (int j = 0; j < n; j++)
            formula(i, j + 1, scores[i * n + j], "=SUMPRODUCT(Q!$B%d:$%s%d,K!$B$%d:$%s$%d)", i + 5,
                    last_dim, i + 5, j + 5, last_dim, j + 5);
    }
    start("Scaled", n, "word");
    for (int i = 0; i < n; i++) {
        word(i);
        for (int j = 0; j < n; j++)
            formula(i, j + 1, scores[i * n + j] / sqrt(d), "=Scores!%s%d/SQRT(d_k)", column[j + 1],
                    i + 5);
    }
    start("Softmax", n, "word");
    for (int i = 0; i < n; i++) {
        int r = i + 5;
        word(i);
        for (int j = 0; j < n; j++)
            formula(i, j + 1, powers[i * n + j] / total[i], "=%s%d/$%s%d", column[n + 4 + j], r,
                    column[2 * n + 5], r);
        formula(i, n + 2, maximum[i], "=MAX(Scaled!$B%d:$%s%d)", r, last_word, r);
        for (int j = 0; j < n; j++)
            formula(i, n + 4 + j, powers[i * n + j], "=EXP(Scaled!%s%d-$%s%d)", column[j + 1], r,
                    column[n + 2], r);
        formula(i, 2 * n + 5, total[i], "=SUM($%s%d:$%s%d)", column[n + 4], r, column[2 * n + 3], r);
    }
    start("Output", d, "d");
    for (int i = 0; i < n; i++) {
        word(i);
        for (int j = 0; j < d; j++)
            formula(i, j + 1, output[i * d + j], "=SUM(MMULT(Softmax!$B%d:$%s%d,V!%s$5:%s$%d))", i + 5,
                    last_word, i + 5, column[j + 1], column[j + 1], n + 4);
    }
    return workbook_close(book);
}
