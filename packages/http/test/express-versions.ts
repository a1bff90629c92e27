import express from 'express';
import { extent } from '../../../test/extent.js';

/** One major version of Express. The router loads none: it uses that of its host. */
export interface ExpressVersion {
  readonly major: 4 | 5;
  readonly express: typeof express;
}

export const EXPRESS_4: ExpressVersion = { major: 4, express: jest.requireActual('express4') };
export const EXPRESS_5: ExpressVersion = { major: 5, express };
export const EXPRESS_VERSIONS = [EXPRESS_4, EXPRESS_5];
/**
 * For suites that send much to every route. Both versions pass requests on in the same way, so the short form runs on
 * one.
 */
export const EXPRESS_VERSIONS_IN_LENGTH = extent({ short: [EXPRESS_5], full: EXPRESS_VERSIONS });
