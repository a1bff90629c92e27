/** Wraps what a function of the host's throws: whatever it is, a refusal of the engine's too, is not for the router to answer. */
export class HostFault extends Error {
  constructor(readonly thrown: unknown) {
    super("A function of the host's has thrown.");
  }
}

/** Gives what a function of the host's gives, or fails with a `HostFault`. */
export async function askHost<T>(ask: () => T | Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new HostFault(error);
  }
}
