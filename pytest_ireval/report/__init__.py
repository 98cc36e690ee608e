"""Reports: one file per format, each a pure function of plain results; no arithmetic here."""
