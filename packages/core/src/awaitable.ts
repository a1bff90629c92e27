/** A value, or a promise of it: what a synchronous and an asynchronous storage can both give. */
export type Awaitable<T> = T | PromiseLike<T>;
