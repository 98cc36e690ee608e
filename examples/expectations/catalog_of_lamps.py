"""A search in six lines of data, which says how many lamps match, and the code of each."""

from pytest_ireval import Answer

LAMPS = {
    "L1": ("white desk lamp", "AX-100"),
    "L2": ("red table lamp", "AX-101"),
    "L3": ("red ceiling lamp", "AX-102"),
    "L4": ("blue desk lamp", "BX-200"),
    "L5": ("steel floor lamp", "BX-201"),
}


def search(text, *, depth):
    """Lamps whose name has every word of the query, or whose code it is."""
    found = [key for key, (name, sku) in LAMPS.items() if set(text.split()) <= set(name.split()) or text == sku]
    fields = {key: {"title": LAMPS[key][0], "sku": LAMPS[key][1]} for key in found}
    return Answer(found[:depth], totals=len(found), fields=fields)
