import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 192 bits: more than the 160 that the decisions ask for. */
const SECRET_BYTES = 24;
/** As much of the hash as names a token: 128 bits. */
const ID_LENGTH = 32;

/** A new secret of the form `<project>:<environment>.<48 hexadecimal digits>`; `[]` stands for several projects. */
export function createSecret(projects: readonly string[], environment: string): string {
  const scope = projects.length === 1 ? projects[0] : '[]';
  return `${scope}:${environment}.${randomBytes(SECRET_BYTES).toString('hex')}`;
}

/** SHA-256 in hexadecimal; a secret has too many bits to be guessed from it, so it needs no slow hash. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** The id under which a token with this hash is stored. */
export function idOfHash(digest: string): string {
  return digest.slice(0, ID_LENGTH);
}

/** Compares in a time that does not tell where the difference is. */
export function isSameHash(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one, 'hex'), Buffer.from(other, 'hex'));
}
