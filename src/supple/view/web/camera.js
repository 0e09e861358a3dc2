// A camera that turns about a target, with z upwards.
class Camera {
  constructor({from, field, fill}) {
    this.field = field; this.fill = fill;
    const d = unit(from);
    this.first = {yaw: Math.atan2(d[1], d[0]), pitch: Math.asin(d[2])};
    this.yaw = this.first.yaw; this.pitch = this.first.pitch;
    this.target = [0, 0, 0]; this.distance = 1; this.size = [1, 1];
  }

  get back() {
    const c = Math.cos(this.pitch);
    return [c * Math.cos(this.yaw), c * Math.sin(this.yaw), Math.sin(this.pitch)];
  }
  get right() { return [-Math.sin(this.yaw), Math.cos(this.yaw), 0]; }
  get up() { return cross(this.back, this.right); }
  get eye() { return add(this.target, this.back, this.distance); }
  get matrix() {
    const near = this.distance / 100, far = this.distance * 60;
    return product(perspective(this.field, this.size[0] / this.size[1], near, far),
      lookFrom(this.eye, this.right, this.up, this.back));
  }

  // Meters that a pixel covers at a distance from the camera.
  pixel(depth = this.distance) { return 2 * depth * Math.tan(this.field / 2) / this.size[1]; }

  // Where a point is seen: pixels from the left and the top, and its depth.
  seen(point) {
    const away = add(point, this.eye, -1), depth = -dot(away, this.back);
    const pixel = this.pixel(depth);
    return [this.size[0] / 2 + dot(away, this.right) / pixel, this.size[1] / 2 - dot(away, this.up) / pixel, depth];
  }

  // The nearest place from which all points are seen: each asks for |x - x0| <= s (z0 - z).
  fit(points, fill = this.fill) {
    const axes = [this.right, this.up], back = this.back, half = Math.tan(this.field / 2) * fill;
    let away = -Infinity, front = -Infinity, rear = Infinity;
    const beside = axes.map((axis, k) => {
      const slope = k ? half : half * this.size[0] / this.size[1];
      let high = -Infinity, low = Infinity;
      for (const p of points) {
        const x = dot(p, axis), z = dot(p, back);
        high = Math.max(high, x + slope * z); low = Math.min(low, x - slope * z);
        front = Math.max(front, z); rear = Math.min(rear, z);
      }
      away = Math.max(away, (high - low) / (2 * slope));
      return (high + low) / 2;
    });
    const middle = (front + rear) / 2;
    this.target = add(add(scaled(axes[0], beside[0]), axes[1], beside[1]), back, middle);
    this.distance = Math.max(away, front + 0.05 * (front - rear)) - middle || 1;
  }

  turn(dx, dy) {
    this.yaw -= 0.008 * dx;
    this.pitch = Math.max(-1.55, Math.min(1.55, this.pitch + 0.008 * dy));
  }
  move(dx, dy) {
    const pixel = this.pixel();
    this.target = add(add(this.target, this.right, -dx * pixel), this.up, dy * pixel);
  }
  zoom(steps) { this.distance *= Math.exp(steps); }
}
