// Removes a folder of ours with all that is in it, as the scripts do: never into a mount.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('remove-tree.sh', import.meta.url));

export function removeTree(folder) {
  const { status, error } = spawnSync(PROGRAM, [folder], { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw error ?? new Error(`${folder} is not removed`);
}
