"""The results of everything: plain values, with a version where they are written out."""
