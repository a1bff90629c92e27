export type AdminClient = ReturnType<typeof adminClient>;

/** Calls the admin API as an administrator does. */
export function adminClient(url: string, token: string) {
  return {
    createFlag: (name: string) => request('POST', '/api/admin/projects/default/features', { name }),
    get: (path: string) => request('GET', path),
    post: (path: string, body?: unknown) => request('POST', path, body),
    put: (path: string, body: unknown) => request('PUT', path, body),
    remove: (path: string) => request('DELETE', path),
  };

  function request(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(url + path, {
      method,
      headers: { authorization: token, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }
}
