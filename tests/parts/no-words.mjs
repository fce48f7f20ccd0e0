// For a script that takes no words: imported first, it refuses those that are given.
const given = process.argv.slice(2);
if (given.length > 0) {
  console.error(`${process.argv[1]} takes no words, and there are: ${given.join(' ')}`);
  process.exit(2);
}
