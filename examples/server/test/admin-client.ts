/** Calls the admin API as an administrator does. */
export function adminClient(url: string, token: string) {
  return {
    createFlag: (name: string) => request('POST', '/api/admin/projects/default/features', { name }),
    flagNames: async (): Promise<string[]> => {
      const response = await request('GET', '/api/admin/projects/default/features');
      const { features } = (await response.json()) as { features: { name: string }[] };
      return features.map(({ name }) => name);
    },
    namesOfCreationEvents: async (): Promise<string[]> => {
      const response = await request('GET', '/api/admin/events?type=feature-created&limit=1000');
      const { events } = (await response.json()) as { events: { featureName: string }[] };
      return events.map(({ featureName }) => featureName);
    },
    get: (path: string) => request('GET', path),
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
