"""What a team brings along: files read, brought together from other tools, and looked over before they are used."""
