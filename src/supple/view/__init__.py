"""Pictures of robots in space: a viewer in the browser, pages that play offline, films, a live mode."""

from supple.view.film import to_film as to_film
from supple.view.gltf import to_gltf as to_gltf
from supple.view.live import live as live
from supple.view.notebook import show as show
from supple.view.page import to_html as to_html
from supple.view.viewer import Viewer as Viewer, view as view
