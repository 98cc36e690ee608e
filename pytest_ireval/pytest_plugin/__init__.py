"""The face that pytest sees; nothing else in the package imports pytest."""
