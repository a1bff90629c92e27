/** The request header in which SDKs name the version of the client specification that they implement. */
export const CLIENT_SPEC_HEADER = 'Unleash-Client-Spec';

/** How segments are sent: beside the flags, or `inlined` as constraints for SDKs that do not know segments. */
export type SegmentForm = 'beside' | 'inlined';

/** Segments came with version 4.2.0 of the client specification. A client that names no version is older. */
export function segmentFormFor(clientSpec: string | undefined): SegmentForm {
  const [, major, minor] = /^(\d{1,4})\.(\d{1,4})(?:\D|$)/.exec(clientSpec ?? '') ?? [];
  const knowsSegments = Number(major) > 4 || (Number(major) === 4 && Number(minor) >= 2);
  return knowsSegments ? 'beside' : 'inlined';
}
