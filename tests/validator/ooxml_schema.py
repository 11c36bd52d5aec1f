# ruff: noqa: E501
"""The order and the attributes of the elements of a workbook, as ECMA-376 part 1 (transitional) has them
in its schemas; knows no file. What stands in no table here is not looked into, but its parent must name
it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
DML = "http://schemas.openxmlformats.org/drawingml/2006/main"
XML = "http://www.w3.org/XML/1998/namespace"
_PREFIXES = {
    RELATIONS: "r:",
    DML: "a:",
    CHART: "c:",
    DRAWING: "xdr:",
    XML: "xml:",
    "http://schemas.openxmlformats.org/markup-compatibility/2006": "mc:",
}
_FOREIGN = ("http://schemas.microsoft.com/", "http://schemas.openxmlformats.org/markup-compatibility/")

# element | children in their order | attributes with their types (! required)
WORKBOOK = """
workbook | fileVersion? fileSharing? workbookPr? workbookProtection? bookViews? sheets functionGroups?
 externalReferences? definedNames? calcPr? oleSize? customWorkbookViews? pivotCaches? smartTagPr?
 smartTagTypes? webPublishing? fileRecoveryPr* webPublishObjects? extLst? | conformance:strict/transitional
workbookPr | | date1904:bool showObjects:all/placeholders/none showBorderUnselectedTables:bool
 filterPrivacy:bool promptedSolutions:bool showInkAnnotation:bool backupFile:bool
 saveExternalLinkValues:bool updateLinks:userSet/never/always codeName:str hidePivotFieldList:bool
 showPivotChartFilter:bool allowRefreshQuery:bool publishItems:bool checkCompatibility:bool
 autoCompressPictures:bool refreshAllConnections:bool defaultThemeVersion:uint
bookViews | workbookView+ extLst? |
workbookView | extLst? | visibility:visible/hidden/veryHidden minimized:bool showHorizontalScroll:bool
 showVerticalScroll:bool showSheetTabs:bool xWindow:int yWindow:int windowWidth:uint windowHeight:uint
 tabRatio:uint firstSheet:uint activeTab:uint autoFilterDateGrouping:bool
sheets | sheet+ |
sheet | | name:str! sheetId:uint! state:visible/hidden/veryHidden r:id:str!
definedNames | definedName* |
definedName | | name:str! comment:str customMenu:str description:str help:str statusBar:str
 localSheetId:uint hidden:bool function:bool vbProcedure:bool xlm:bool functionGroupId:uint
 shortcutKey:str publishToServer:bool workbookParameter:bool xml:space:str
calcPr | | calcId:uint calcMode:manual/auto/autoNoTable fullCalcOnLoad:bool refMode:A1/R1C1 iterate:bool
 iterateCount:uint iterateDelta:num fullPrecision:bool calcCompleted:bool calcOnSave:bool
 concurrentCalc:bool concurrentManualCount:uint forceFullCalc:bool
"""
SHEET = """
worksheet | sheetPr? dimension? sheetViews? sheetFormatPr? cols* sheetData sheetCalcPr? sheetProtection?
 protectedRanges? scenarios? autoFilter? sortState? dataConsolidate? customSheetViews? mergeCells?
 phoneticPr? conditionalFormatting* dataValidations? hyperlinks? printOptions? pageMargins? pageSetup?
 headerFooter? rowBreaks? colBreaks? customProperties? cellWatches? ignoredErrors? smartTags? drawing?
 legacyDrawing? legacyDrawingHF? drawingHF? picture? oleObjects? controls? webPublishItems? tableParts?
 extLst? |
sheetPr | tabColor? outlinePr? pageSetUpPr? | syncHorizontal:bool syncVertical:bool syncRef:ref
 transitionEvaluation:bool transitionEntry:bool published:bool codeName:str filterMode:bool
 enableFormatConditionsCalculation:bool
tabColor | | auto:bool indexed:uint rgb:argb theme:uint tint:num
color | | auto:bool indexed:uint rgb:argb theme:uint tint:num
outlinePr | | applyStyles:bool summaryBelow:bool summaryRight:bool showOutlineSymbols:bool
pageSetUpPr | | autoPageBreaks:bool fitToPage:bool
dimension | | ref:ref!
sheetViews | sheetView+ extLst? |
sheetView | pane? selection* pivotSelection* extLst? | windowProtection:bool showFormulas:bool
 showGridLines:bool showRowColHeaders:bool showZeros:bool rightToLeft:bool tabSelected:bool showRuler:bool
 showOutlineSymbols:bool defaultGridColor:bool showWhiteSpace:bool
 view:normal/pageBreakPreview/pageLayout topLeftCell:ref colorId:uint zoomScale:uint zoomScaleNormal:uint
 zoomScaleSheetLayoutView:uint zoomScalePageLayoutView:uint workbookViewId:uint!
pane | | xSplit:num ySplit:num topLeftCell:ref activePane:bottomRight/topRight/bottomLeft/topLeft
 state:split/frozen/frozenSplit
selection | | pane:bottomRight/topRight/bottomLeft/topLeft activeCell:ref activeCellId:uint sqref:sqref
sheetFormatPr | | baseColWidth:uint defaultColWidth:num defaultRowHeight:num! customHeight:bool
 zeroHeight:bool thickTop:bool thickBottom:bool outlineLevelRow:uint outlineLevelCol:uint
cols | col+ |
col | | min:uint! max:uint! width:num style:uint hidden:bool bestFit:bool customWidth:bool phonetic:bool
 outlineLevel:uint collapsed:bool
sheetProtection | | password:str algorithmName:str hashValue:str saltValue:str spinCount:uint sheet:bool
 objects:bool scenarios:bool formatCells:bool formatColumns:bool formatRows:bool insertColumns:bool
 insertRows:bool insertHyperlinks:bool deleteColumns:bool deleteRows:bool selectLockedCells:bool sort:bool
 autoFilter:bool pivotTables:bool selectUnlockedCells:bool
mergeCells | mergeCell+ | count:uint
mergeCell | | ref:ref!
conditionalFormatting | cfRule+ extLst? | pivot:bool sqref:sqref!
cfRule | formula* colorScale? dataBar? iconSet? extLst? | type:expression/cellIs/colorScale/dataBar/iconSet/top10/uniqueValues/duplicateValues/containsText/notContainsText/beginsWith/endsWith/containsBlanks/notContainsBlanks/containsErrors/notContainsErrors/timePeriod/aboveAverage!
 dxfId:uint priority:int! stopIfTrue:bool aboveAverage:bool percent:bool bottom:bool
 operator:lessThan/lessThanOrEqual/equal/notEqual/greaterThanOrEqual/greaterThan/between/notBetween/containsText/notContains/beginsWith/endsWith
 text:str timePeriod:str rank:uint stdDev:int equalAverage:bool
colorScale | cfvo cfvo+ color color+ |
cfvo | extLst? | type:num/percent/max/min/formula/percentile! val:str gte:bool
dataValidations | dataValidation+ | disablePrompts:bool xWindow:uint yWindow:uint count:uint
dataValidation | formula1? formula2? | type:none/whole/decimal/list/date/time/textLength/custom
 errorStyle:stop/warning/information imeMode:str
 operator:between/notBetween/equal/notEqual/lessThan/lessThanOrEqual/greaterThan/greaterThanOrEqual
 allowBlank:bool showDropDown:bool showInputMessage:bool showErrorMessage:bool errorTitle:str error:str
 promptTitle:str prompt:str sqref:sqref!
hyperlinks | hyperlink+ |
hyperlink | | ref:ref! r:id:str location:str tooltip:str display:str
printOptions | | horizontalCentered:bool verticalCentered:bool headings:bool gridLines:bool
 gridLinesSet:bool
pageMargins | | left:num! right:num! top:num! bottom:num! header:num! footer:num!
pageSetup | | paperSize:uint paperHeight:str paperWidth:str scale:uint firstPageNumber:uint
 fitToWidth:uint fitToHeight:uint pageOrder:downThenOver/overThenDown
 orientation:default/portrait/landscape usePrinterDefaults:bool blackAndWhite:bool draft:bool
 cellComments:none/asDisplayed/atEnd useFirstPageNumber:bool errors:displayed/blank/dash/NA
 horizontalDpi:uint verticalDpi:uint copies:uint r:id:str
headerFooter | oddHeader? oddFooter? evenHeader? evenFooter? firstHeader? firstFooter? |
 differentOddEven:bool differentFirst:bool scaleWithDoc:bool alignWithMargins:bool
drawing | | r:id:str!
legacyDrawing | | r:id:str!
tableParts | tablePart* | count:uint
tablePart | | r:id:str!
"""
STYLES = """
styleSheet | numFmts? fonts? fills? borders? cellStyleXfs? cellXfs? cellStyles? dxfs? tableStyles? colors?
 extLst? |
numFmts | numFmt* | count:uint
numFmt | | numFmtId:uint! formatCode:str!
fonts | font* | count:uint
font | (b/i/strike/condense/extend/outline/shadow/u/vertAlign/sz/color/name/family/charset/scheme)* |
sz | | val:num!
name | | val:str!
family | | val:uint!
charset | | val:uint!
u | | val:single/double/singleAccounting/doubleAccounting/none
scheme | | val:none/major/minor!
b | | val:bool
i | | val:bool
strike | | val:bool
color | | auto:bool indexed:uint rgb:argb theme:uint tint:num
fgColor | | auto:bool indexed:uint rgb:argb theme:uint tint:num
bgColor | | auto:bool indexed:uint rgb:argb theme:uint tint:num
fills | fill* | count:uint
fill | (patternFill/gradientFill) |
patternFill | fgColor? bgColor? | patternType:none/solid/mediumGray/darkGray/lightGray/darkHorizontal/darkVertical/darkDown/darkUp/darkGrid/darkTrellis/lightHorizontal/lightVertical/lightDown/lightUp/lightGrid/lightTrellis/gray125/gray0625
borders | border* | count:uint
border | start? end? left? right? top? bottom? diagonal? vertical? horizontal? | diagonalUp:bool
 diagonalDown:bool outline:bool
left | color? | style:none/thin/medium/dashed/dotted/thick/double/hair/mediumDashed/dashDot/mediumDashDot/dashDotDot/mediumDashDotDot/slantDashDot
right | color? | style:none/thin/medium/dashed/dotted/thick/double/hair/mediumDashed/dashDot/mediumDashDot/dashDotDot/mediumDashDotDot/slantDashDot
top | color? | style:none/thin/medium/dashed/dotted/thick/double/hair/mediumDashed/dashDot/mediumDashDot/dashDotDot/mediumDashDotDot/slantDashDot
bottom | color? | style:none/thin/medium/dashed/dotted/thick/double/hair/mediumDashed/dashDot/mediumDashDot/dashDotDot/mediumDashDotDot/slantDashDot
cellStyleXfs | xf+ | count:uint
cellXfs | xf+ | count:uint
xf | alignment? protection? extLst? | numFmtId:uint fontId:uint fillId:uint borderId:uint xfId:uint
 quotePrefix:bool pivotButton:bool applyNumberFormat:bool applyFont:bool applyFill:bool applyBorder:bool
 applyAlignment:bool applyProtection:bool
alignment | | horizontal:general/left/center/right/fill/justify/centerContinuous/distributed
 vertical:top/center/bottom/justify/distributed textRotation:uint wrapText:bool indent:uint
 relativeIndent:int justifyLastLine:bool shrinkToFit:bool readingOrder:uint
protection | | locked:bool hidden:bool
cellStyles | cellStyle+ | count:uint
cellStyle | extLst? | name:str xfId:uint! builtinId:uint iLevel:uint hidden:bool customBuiltin:bool
dxfs | dxf* | count:uint
dxf | font? numFmt? fill? alignment? border? protection? extLst? |
tableStyles | tableStyle* | count:uint defaultTableStyle:str defaultPivotStyle:str
"""
_SHAPE = """(a:noFill/a:solidFill/a:gradFill/a:blipFill/a:pattFill/a:grpFill)?"""
_DML = f"""
spPr | a:xfrm? (a:custGeom/a:prstGeom)? {_SHAPE} a:ln? (a:effectLst/a:effectDag)? a:scene3d? a:sp3d?
 a:extLst? | bwMode:str
a:ln | {_SHAPE} (a:prstDash/a:custDash)? (a:round/a:bevel/a:miter)? a:headEnd? a:tailEnd? a:extLst? | w:uint
 cap:rnd/sq/flat cmpd:str algn:str
a:solidFill | (a:scrgbClr/a:srgbClr/a:hslClr/a:sysClr/a:schemeClr/a:prstClr)? |
a:srgbClr | ANY | val:rgb!
a:prstDash | | val:solid/dot/dash/lgDash/dashDot/lgDashDot/lgDashDotDot/sysDash/sysDot/sysDashDot/sysDashDotDot
a:tailEnd | | type:none/triangle/stealth/diamond/oval/arrow w:sm/med/lg len:sm/med/lg
a:headEnd | | type:none/triangle/stealth/diamond/oval/arrow w:sm/med/lg len:sm/med/lg
a:p | a:pPr? (a:r/a:br/a:fld)* a:endParaRPr? |
a:r | a:rPr? a:t |
rich | a:bodyPr a:lstStyle? a:p+ |
txPr | a:bodyPr a:lstStyle? a:p+ |
"""
_TEXT = "layout? overlay?"
_AXIS = """axId scaling delete? axPos majorGridlines? minorGridlines? title? numFmt? majorTickMark?
 minorTickMark? tickLblPos? spPr? txPr? crossAx (crosses/crossesAt)?"""
_LABEL = "numFmt? spPr? txPr? dLblPos? showLegendKey? showVal? showCatName? showSerName? showPercent? showBubbleSize? separator?"
_POSITIONS = "bestFit/b/ctr/inBase/inEnd/l/outEnd/r/t"
CHARTS = f"""
chartSpace | date1904? lang? roundedCorners? mc:AlternateContent* style? clrMapOvr? pivotSource? protection?
 chart spPr? txPr? externalData? printSettings? userShapes? extLst? |
chart | title? autoTitleDeleted? pivotFmts? view3D? floor? sideWall? backWall? plotArea legend?
 plotVisOnly? dispBlanksAs? showDLblsOverMax? extLst? |
title | tx? layout? overlay? spPr? txPr? extLst? |
tx | (strRef/rich/v) |
plotArea | layout? (areaChart/area3DChart/lineChart/line3DChart/stockChart/radarChart/scatterChart/pieChart/pie3DChart/doughnutChart/barChart/bar3DChart/ofPieChart/surfaceChart/surface3DChart/bubbleChart)+
 (valAx/catAx/dateAx/serAx)* dTable? spPr? extLst? |
barChart | barDir grouping? varyColors? ser* dLbls? gapWidth? overlap? serLines* axId axId extLst? |
scatterChart | scatterStyle varyColors? ser* dLbls? axId axId extLst? |
barDir | | val:bar/col
grouping | | val:percentStacked/clustered/standard/stacked
scatterStyle | | val:none/line/lineMarker/marker/smooth/smoothMarker!
varyColors | | val:bool
ser | idx order tx? spPr? invertIfNegative? pictureOptions? marker? dPt* dLbls? trendline* errBars*
 cat? val? xVal? yVal? smooth? shape? extLst? |
idx | | val:uint!
order | | val:uint!
invertIfNegative | | val:bool
smooth | | val:bool
marker | symbol? size? spPr? extLst? |
symbol | | val:circle/dash/diamond/dot/none/picture/plus/square/star/triangle/x/auto!
size | | val:uint
dPt | idx invertIfNegative? marker? bubble3D? explosion? spPr? pictureOptions? extLst? |
dLbls | dLbl* (delete/{_LABEL} showLeaderLines? leaderLines?) extLst? |
dLbl | idx (delete/layout? tx? {_LABEL}) extLst? |
dLblPos | | val:{_POSITIONS}!
showLegendKey | | val:bool
showVal | | val:bool
showSerName | | val:bool
cat | (multiLvlStrRef/numRef/numLit/strRef/strLit) |
val | (numRef/numLit) |
xVal | (multiLvlStrRef/numRef/numLit/strRef/strLit) |
yVal | (numRef/numLit) |
numRef | f numCache? extLst? |
strRef | f strCache? extLst? |
numCache | formatCode? ptCount? pt* extLst? |
strCache | ptCount? pt* extLst? |
ptCount | | val:uint!
pt | v | idx:uint! formatCode:str
catAx | {_AXIS} auto? lblAlgn? lblOffset? tickLblSkip? tickMarkSkip? noMultiLvlLbl? extLst? |
valAx | {_AXIS} crossBetween? majorUnit? minorUnit? dispUnits? extLst? |
axId | | val:uint!
crossAx | | val:uint!
scaling | logBase? orientation? max? min? extLst? |
orientation | | val:maxMin/minMax
delete | | val:bool
axPos | | val:b/l/r/t!
majorGridlines | spPr? |
numFmt | | formatCode:str! sourceLinked:bool
majorTickMark | | val:cross/in/none/out
minorTickMark | | val:cross/in/none/out
tickLblPos | | val:high/low/nextTo/none
lblOffset | | val:uint
legend | legendPos? legendEntry* layout? overlay? spPr? txPr? extLst? |
legendPos | | val:b/tr/l/r/t
plotVisOnly | | val:bool
dispBlanksAs | | val:span/gap/zero
overlay | | val:bool
gapWidth | | val:uint
overlap | | val:int
{_DML}"""
DRAWINGS = """
wsDr | (twoCellAnchor/oneCellAnchor/absoluteAnchor)* |
oneCellAnchor | from ext (sp/grpSp/graphicFrame/cxnSp/pic/contentPart/mc:AlternateContent) clientData |
twoCellAnchor | from to (sp/grpSp/graphicFrame/cxnSp/pic/contentPart/mc:AlternateContent) clientData |
 editAs:twoCell/oneCell/absolute
absoluteAnchor | pos ext (sp/grpSp/graphicFrame/cxnSp/pic/contentPart) clientData |
from | col colOff row rowOff |
to | col colOff row rowOff |
ext | | cx:uint! cy:uint!
graphicFrame | nvGraphicFramePr xfrm a:graphic | macro:str fPublished:bool
nvGraphicFramePr | cNvPr cNvGraphicFramePr |
cNvPr | ANY | id:uint! name:str! descr:str hidden:bool title:str
pic | nvPicPr blipFill spPr style? | macro:str fPublished:bool
a:graphic | a:graphicData |
a:graphicData | ANY | uri:str!
"""
TABLES = {
    "workbook": (MAIN, WORKBOOK),
    "worksheet": (MAIN, SHEET),
    "styles": (MAIN, STYLES),
    "chart": (CHART, CHARTS),
    "drawing": (DRAWING, DRAWINGS),
}

_REF = re.compile(r"\$?[A-Z]{1,3}\$?[1-9][0-9]*(:\$?[A-Z]{1,3}\$?[1-9][0-9]*)?")
_TYPES = {
    "bool": re.compile("0|1|true|false"),
    "uint": re.compile("[0-9]+"),
    "int": re.compile("-?[0-9]+"),
    "str": re.compile(".*", re.DOTALL),
    "argb": re.compile("[0-9A-Fa-f]{8}"),
    "rgb": re.compile("[0-9A-Fa-f]{6}"),
    "ref": _REF,
    "sqref": re.compile(rf"{_REF.pattern}( {_REF.pattern})*"),
}


@cache
def table(part: str) -> dict[str, tuple[re.Pattern[str] | None, dict[str, str], set[str]]]:
    """Of each element: its children as a pattern, its attributes' types, the required ones."""
    found = {}
    for line in filter(None, TABLES[part][1].replace("\n ", " ").splitlines()):
        name, children, attributes = (piece.strip() for piece in line.split("|"))
        pattern = re.sub(r"[\w:]+", r"(?:\g<0> )", children).replace(" ", "")
        pattern = re.sub(r"(\(\?:[\w:]+)\)", r"\1 )", pattern).replace("/", "|")
        types = dict(item.rstrip("!").rsplit(":", 1) for item in attributes.split())
        needed = {i.rstrip("!").rsplit(":", 1)[0] for i in attributes.split() if i[-1] == "!"}
        order = None if children == "ANY" else re.compile(pattern)
        found[name] = order, types, needed
    return found


def short(tag: str, home: str) -> str:
    """An element's or an attribute's name, with the usual prefix where it is of another namespace than
    the part's own."""
    if tag[0] != "{":
        return tag
    space, _, name = tag[1:].partition("}")
    return name if space == home else _PREFIXES.get(space, f"{space}:") + name


def misplaced(part: str, root: Any, skip: str = "") -> Iterator[tuple[str, str]]:
    """What of a tree is not in its order, or has an attribute that it may not have: `order` or
    `attributes`, and which.

    Args:
        skip: the element whose children are left out.
    """
    known, home = table(part), TABLES[part][0]
    stack = [root]
    while stack:
        element = stack.pop()
        name = short(element.tag, home)
        if name not in known:
            continue
        order, types, needed = known[name]
        if name != skip and order is not None:
            children = [short(child.tag, home) for child in element]
            if not order.fullmatch("".join(f"{child} " for child in children)):
                yield "order", f"<{name}> has {' '.join(children) or 'nothing'}"
            stack.extend(element)
        given = {short(key, home): value for key, value in element.attrib.items()}
        for key, value in given.items():
            if key not in types:
                if not key.startswith(_FOREIGN) and key != "mc:Ignorable":
                    yield "attributes", f"<{name}> has no attribute {key}"
            elif not _is(types[key], value):
                yield "attributes", f'<{name} {key}="{value}"> is not {types[key]}'
        for key in needed - given.keys():
            yield "attributes", f"<{name}> lacks {key}"


def _is(kind: str, value: str) -> bool:
    if kind == "num":
        return is_number(value)
    if kind in _TYPES:
        return bool(_TYPES[kind].fullmatch(value))
    return value in kind.split("/")


def whole(text: str | None) -> int:
    """A whole number, or -1 for what is none."""
    return int(text) if text and re.fullmatch("-?[0-9]{1,18}", text) else -1


def number(text: str | None) -> float:
    """A number, or -1 for what is none."""
    return float(text) if text and is_number(text) else -1.0


_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([Ee][-+]?[0-9]+)?")


def is_number(text: str) -> bool:
    """Whether a text is a finite number as XML Schema's double has it."""
    return bool(_NUMBER.fullmatch(text)) and math.isfinite(float(text))
