"""How far to trust a metric, a suite or an online test: commands of ``ireval`` beside the core."""
