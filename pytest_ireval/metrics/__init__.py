"""What a metric is, how its name is written, and how many metrics are scored over judged rankings at once."""
