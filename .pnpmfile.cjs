const DRIVER = 'better-sqlite3';

/**
 * pnpm leaves out an optional dependency that does not support its Node. Here better-sqlite3 12 supports only the versions of
 * Node without the SQLite that @flags/core needs: on the others nothing is compiled. Our packages name it as an optional peer,
 * which pnpm would install as a dependency that is not optional.
 */
function readPackage(manifest) {
  if (manifest.name === DRIVER && manifest.version.startsWith('12.')) {
    return { ...manifest, engines: { node: '>=20.19 <22.16 || 23' } };
  }
  if (manifest.name?.startsWith('@flags/')) {
    const { [DRIVER]: _driver, ...peerDependencies } = manifest.peerDependencies ?? {};
    return { ...manifest, peerDependencies };
  }
  return manifest;
}

module.exports = { hooks: { readPackage } };
