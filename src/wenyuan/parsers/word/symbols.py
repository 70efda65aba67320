"""Characters of symbol fonts, which stand for other characters than their codes say."""

from __future__ import annotations

_PRIVATE = 0xF000
_WINGDINGS = {
    **dict(zip(bytes.fromhex("28 2A 4A 6C 6E 6F 70 71 72 76 9F A1 A7 A8 AB"), "☎✉☺●■□□□□❖●○■□★", strict=True)),
    **dict(zip(bytes.fromhex("D8 DF E0 E1 E2 E8 F0 FB FC FD FE"), "➢←→↑↓➔⇨✗✓☒☑", strict=True)),
    **dict(zip(range(0x80, 0x8B), "⓪①②③④⑤⑥⑦⑧⑨⑩", strict=True)),
    **dict(zip(range(0x8B, 0x96), "⓿❶❷❸❹❺❻❼❽❾❿", strict=True)),
}
_WINGDINGS_2 = {
    **dict(zip(bytes.fromhex("2A 4F 50 51 52 53 54 98 A3"), "□✗✓☒☑☒☒●□", strict=True)),
    **dict(zip(range(0x6A, 0x75), "⓪①②③④⑤⑥⑦⑧⑨⑩", strict=True)),
}
_SYMBOL = {
    **dict(zip(range(0x61, 0x7B), "αβχδεφγηιϕκλμνοπθρστυϖωξψζ", strict=True)),
    **dict(zip(range(0x41, 0x5B), "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", strict=True)),
    **dict(zip(bytes.fromhex("22 24 A2 A3 A5 AC AE B0 B1 B2 B3 B4 B6"), "∀∃′≤∞←→°±″≥×∂", strict=True)),
    **dict(zip(bytes.fromhex("B7 B8 B9 BB C7 C8 CE D1 D2 D3 D6 DB DE E5 F2"), "•÷≠≈∩∪∈∇®©√⇔⇒∑∫", strict=True)),
}
_FONTS = {"wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2, "symbol": _SYMBOL}


def symbol(font: str, code: str) -> str:
    """What the character with that hexadecimal code shows in a symbol font; "" where that is not known."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    table = _FONTS.get(font.lower())
    within = number - _PRIVATE if number >= _PRIVATE else number
    if table is not None:
        return table.get(within, "")
    return chr(number) if 0x20 <= number < 0xD800 or 0xF900 <= number < 0x110000 else ""
