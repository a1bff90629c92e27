/** Semantic Versioning 2.0, the grammar of https://semver.org/spec/v2.0.0.html. Longer texts are no versions. */
const MAX_LENGTH = 256;
const NUMBER = '(?:0|[1-9][0-9]*)';
const PRERELEASE = '(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)';
const BUILD = '[0-9A-Za-z-]+';
const SEMVER = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${PRERELEASE}(?:\\.${PRERELEASE})*)?(?:\\+${BUILD}(?:\\.${BUILD})*)?$`,
);

export function isSemver(text: string): boolean {
  return text.length <= MAX_LENGTH && SEMVER.test(text);
}
