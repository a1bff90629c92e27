export { followFlags, type TypedFollower } from './follow-flags.js';
export type { Follower, FollowerServing, FollowerStatus } from './follower.js';
export type { FollowerOptions } from './options.js';
