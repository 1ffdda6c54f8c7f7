"""What a check found: the results model and its text, JSON, SARIF and HTML forms."""
