import type express from 'express';
import { extent } from '../../../test/extent.js';
import type { createFlagsRouter } from '../src/create-router.js';

/** One major version of Express with the router built upon it, as in a host that has this version installed. */
export interface ExpressVersion {
  readonly major: 4 | 5;
  readonly express: typeof express;
  readonly createFlagsRouter: typeof createFlagsRouter;
}

export const EXPRESS_4 = load('express4', 4);
export const EXPRESS_5 = load('express', 5);
export const EXPRESS_VERSIONS = [EXPRESS_4, EXPRESS_5];
/** For suites that send much to every route. Both versions hand requests over alike, so the short form runs on one. */
export const EXPRESS_VERSIONS_IN_LENGTH = extent({ short: [EXPRESS_5], full: EXPRESS_VERSIONS });

function load(name: string, major: 4 | 5): ExpressVersion {
  let version: ExpressVersion | undefined;
  jest.isolateModules(() => {
    const loaded = jest.requireActual(name);
    jest.doMock('express', () => loaded);
    version = { major, express: loaded, createFlagsRouter: require('../src/create-router.js').createFlagsRouter };
  });
  jest.dontMock('express');
  if (version === undefined) throw new Error(`${name} was not loaded.`);
  return version;
}
