// Focal ratio of a mirror.
export interface Mirror {
  diameter: number;
  focalLength: number;
}
export function ratio(m: Mirror): number {
  return m.focalLength / m.diameter;
}
