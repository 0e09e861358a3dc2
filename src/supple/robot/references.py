"""What an item holds on to: names of the items that it cannot do without."""


class RefersToOne:
    """An item on one other."""

    on: str

    @property
    def refers_to(self) -> tuple[str, ...]:
        """Name of the item it cannot do without."""
        return (self.on,)


class HoldsTwo:
    """An item between two others."""

    on: str
    to: str

    @property
    def refers_to(self) -> tuple[str, ...]:
        """Names of the items it cannot do without."""
        return self.on, self.to
