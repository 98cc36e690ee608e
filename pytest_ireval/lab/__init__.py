"""The lab asks whether a suite notices damage, how often it is red by chance, and which metrics tell systems apart."""
