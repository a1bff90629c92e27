import timers from 'node:timers';

/** Those of the moment at which this was loaded: a host's tests replace the global ones, and no request would be answered. */
export const { setImmediate, clearImmediate } = timers;
