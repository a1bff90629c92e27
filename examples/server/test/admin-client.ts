export type AdminClient = ReturnType<typeof adminClient>;

interface Content {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls the admin API as an administrator. */
export function adminClient(url: string, token: string) {
  return {
    createFlag: (name: string) => request('POST', '/api/admin/projects/default/features', { body: { name } }),
    get: (path: string) => request('GET', path),
    post: (path: string, body?: unknown) => request('POST', path, { body }),
    put: (path: string, body: unknown, headers?: Content['headers']) =>
      request('PUT', path, { body, ...(headers && { headers }) }),
    remove: (path: string) => request('DELETE', path),
  };

  function request(method: string, path: string, { body, headers }: Content = {}): Promise<Response> {
    return fetch(url + path, {
      method,
      headers: { authorization: token, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }
}

/** Repeats a request while a server is busy, because nothing has changed then. Fails for any other error. */
export async function expectDone(ask: () => Promise<Response>): Promise<void> {
  for (;;) {
    const answer = await ask();
    if (answer.ok) return void (await answer.arrayBuffer());
    if (answer.status !== 503 || answer.headers.get('retry-after') === null) throw await refusal(answer);
  }
}

export async function refusal(answer: Response): Promise<Error> {
  return new Error(`${answer.url} was answered with ${answer.status}: ${await answer.text()}`);
}
