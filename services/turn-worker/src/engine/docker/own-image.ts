/** What leads to an image, or to a newer one of its name: this repository makes its own; any other is a person's. */
export function howToHave(image: string): string {
  return /^suzumio-runner:/.test(image) ? 'npm run images' : 'pull it or build it there, on a runner of this release';
}
