export interface RequestTarget {
  readonly path: string;
  /** Without the question mark; empty when there is none. */
  readonly query: string;
}

/** Takes a request's target apart. A fragment has no place in it, and is left out, as Express leaves it out of the path. */
export function partsOfTarget(url: string): RequestTarget {
  const [target = ''] = url.split('#', 1);
  const place = target.indexOf('?');
  return place === -1 ? { path: target, query: '' } : { path: target.slice(0, place), query: target.slice(place + 1) };
}
