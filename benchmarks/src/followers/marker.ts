import type { Flags } from '@flags/core';

/** A flag whose variant has the number of the latest change: receivers see how new their state is. */
const MARKER = 'marker';

const REF = { project: 'default', flag: MARKER };

export async function createMarker(flags: Flags): Promise<void> {
  await flags.createFlag({ project: REF.project }, { name: MARKER });
  const place = { ...REF, environment: 'production' };
  await flags.addStrategy(place, { name: 'default' });
  await flags.enable(place);
  await setMarker(flags, 0);
}

export async function setMarker(flags: Flags, change: number): Promise<void> {
  await flags.setVariants(REF, [{ name: `c${change}`, weight: 1000 }]);
}

/** Returns the number that an evaluation sees. */
export function readMarker(flags: { getVariant(name: string, context: object): { readonly name: string } }): number {
  return Number(flags.getVariant(MARKER, { userId: '1' }).name.slice(1));
}

/** Returns the number in a message, or undefined if the message is not about the marker. */
export function markerIn(message: Buffer): number | undefined {
  const at = message.lastIndexOf(`"name":"${MARKER}"`);
  if (at < 0) return undefined;
  const found = /"name":"c(\d+)"/.exec(message.toString('latin1', at, at + 2_000));
  return found ? Number(found[1]) : undefined;
}
