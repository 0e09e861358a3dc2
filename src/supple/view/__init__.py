"""Pictures of robots: plots, a viewer in the browser, films."""
