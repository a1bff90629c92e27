/** A server that serves the API family, with a database of its own. */
export interface Contender {
  readonly name: string;
  readonly of: 'this library' | 'Unleash';
  /** The program that Node runs. */
  readonly program: string;
  /** What it is told by its environment, to listen at this port and to know this admin token. */
  environment(port: number): Readonly<Record<string, string>>;
  readonly adminToken: string;
}

/** What an adopter installs to run a server. */
export interface Installation {
  /** Where `node_modules` is. */
  readonly folder: string;
  readonly packages: number;
  readonly bytes: number;
}
