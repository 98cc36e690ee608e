"""What everything ends in: plain values, with a version where they are written out."""
