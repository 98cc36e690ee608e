"""The files of a team: read, collected from other tools, and checked before they are used."""
