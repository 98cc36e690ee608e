"""Charts: what they show as numbers and as a drawing, ready for a page, for a file of its own, and for a spreadsheet."""
