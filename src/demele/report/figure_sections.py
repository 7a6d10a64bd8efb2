"""The places that the page's script draws figures in."""

from demele.report.view import View
from demele.report.words import dot, named

__all__ = ["dependency", "matrices", "natives"]


def matrices(view: View) -> str:
    """Make the place of the heat maps."""
    if not any(score["matrix"] for item in view.evaluations for score in item["scores"]):
        return ""
    return f"""<p>Each cell is one code and one factor. In a modular representation a row has one bright cell;
in a compact one a column has. {_too_many(view)}</p>
<div class="controls" hidden><label>Quantity <select id="matrix"></select></label>
<label>Order of the codes <select id="order"><option value="given">as given</option>
<option value="factor">by their strongest factor</option></select></label></div>
{_chips(view)}
<div class="ramp" id="ramp" aria-hidden="true"></div>
<div class="panels" id="matrix-panels"></div>
{_values_below("matrix")}{_NO_SCRIPT}"""


def natives(view: View) -> str:
    """Make the place of the bars."""
    if not any(score["native"] for item in view.evaluations for score in item["scores"]):
        return ""
    return f"""<p>A mean hides which factor or which code fails. These are the values that each metric averages.</p>
<div class="controls" hidden><label>Metric <select id="native"></select></label>
<label><input type="checkbox" id="axis"> fit the axis to the values</label></div>
{_chips(view)}
<p class="definition" id="native-definition"></p>
<div class="panels wide" id="native-panels"></div>
{_values_below("native")}{_NO_SCRIPT}"""


def dependency(view: View) -> str:
    """Make the place of the interventional pictures."""
    if not any(item["dependency"] for item in view.evaluations):
        return ""
    hidden = "" if view.several else " hidden"
    return f"""<p>How a code answers to one factor while all others vary. The line or dot is the mean of the code at
each value of the factor; the band is the range that the other factors cause. A code that belongs to the factor has a
steep line and a narrow band.</p>
<div class="controls" hidden><label{hidden}>Representation <select id="dep-evaluation"></select></label>
<label>Factor <select id="dep-factor"></select></label><label>Code <select id="dep-code"></select></label></div>
<div class="panels wide" id="dep-panels"></div>
{_values_below("dep")}{_NO_SCRIPT}"""


_NO_SCRIPT = "<noscript><p>This figure needs JavaScript; the tables of this page do not.</p></noscript>"


def _values_below(key: str) -> str:
    return (
        f'<details class="values" id="{key}-values"><summary>These values as a table</summary>'
        '<div class="scroll"></div></details>'
    )


def _chips(view: View) -> str:
    if not view.several:
        return ""
    chips = "".join(
        f'<label><input type="checkbox" value="{index}" checked>{dot(index)}{named(item["name"])}</label>'
        for index, item in enumerate(view.evaluations)
    )
    return f'<fieldset class="chips" hidden><legend class="hidden">Representations shown</legend>{chips}</fieldset>'


def _too_many(view: View) -> str:
    cut = [item for item in view.evaluations if "codes_in_all" in item]
    if not cut:
        return ""
    parts = [
        f"{named(item['name'])} has {item['codes_in_all']:,} codes, of which the {len(item['codes'])}" for item in cut
    ]
    return f"{'; '.join(parts)} with the largest values are shown. The JSON of the evaluation holds all."
