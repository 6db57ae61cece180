"""Sixteen ways in which a model may spell one answer, none of which changes its meaning."""

import re

DOUBLED = re.compile(r"\\frac(?=\d\d|\{)")


def sixteen(gold: str) -> list[str]:
    """The gold answer in 16 spellings, itself first."""
    spaced = gold.replace(" ", "  ")
    tight = (
        re.sub(r"(?<=[^A-Za-z0-9]) | (?=[^A-Za-z0-9])", "", gold) if "\\" in gold and "text" not in gold and "mbox" not in gold else gold
    )
    return [
        gold,
        f"${gold}$",
        f"\\({gold}\\)",
        f"\\[ {gold} \\]",
        f"{gold}.",
        f" {gold} ",
        f"\\boxed{{{gold}}}",
        f"{{{gold}}}" if "," not in gold else f"$ {gold} $",
        spaced,
        tight,
        gold.replace("\\frac", "\\dfrac"),
        gold.replace("\\frac", "\\tfrac").replace("\\dfrac", "\\frac"),
        gold.replace("\\left", "").replace("\\right", "").replace("-", "\u2212"),
        gold.replace("\\sqrt", "\\sqrt ").replace("\\pi", "π"),
        f"\\displaystyle {gold}",
        gold.replace("\\infty", "∞").replace("\\cup", "∪").replace("^\\circ", "°").replace("\\pm", "±"),
    ]
