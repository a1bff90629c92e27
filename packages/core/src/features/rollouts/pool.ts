/** Runs a limited number of calls at the same time. Later calls wait in their order. */
export type Pool = <T>(work: () => Promise<T> | T) => Promise<T>;

export function createPool(size: number): Pool {
  let free = size;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
