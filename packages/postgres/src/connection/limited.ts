/** Gives what a promise gives, unless that takes longer than so many milliseconds: then it fails with `late()`. */
export function limited<T>(promise: Promise<T>, time: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), time);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
