"""Charts: their numbers and their drawing, ready for a page, for a file of its own, and for a spreadsheet."""
