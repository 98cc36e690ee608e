"""``python -m pytest_ireval`` is ``ireval``."""

from pytest_ireval.cli import main

if __name__ == "__main__":
    main()
