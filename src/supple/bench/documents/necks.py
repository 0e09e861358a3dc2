"""Numbers of 003 that its robots' descriptions hold."""

from supple.robots.bird_neck import bird_neck, tendon_names, tops


def parts() -> dict[str, float]:
    """Joints and tendons of both robots."""
    found: dict[str, float] = {}
    for joints in (3, 4):
        names = {item.name for item in bird_neck(joints).items}
        found[f"joints, {joints} joints"] = float(len(names & set(tops(joints))))
        found[f"tendons, {joints} joints"] = float(len(names & set(tendon_names(joints))))
    return found
