// Prints the findings of a file as a table: those that are late in no more than one case of twenty first, then by price.
import { readFileSync } from 'node:fs';

const pattern = /^(.+): ([\d.]+) a piece, (\d+) days, (\d+) % on time \((.+)\)$/;
const findings = readFileSync(process.argv[2], 'utf8')
  .trim()
  .split('\n')
  .map((line) => {
    const [, name, price, days, onTime, source] = pattern.exec(line);
    return { name, price: Number(price), days: Number(days), onTime: Number(onTime), source };
  })
  .sort((a, b) => Number(b.onTime >= 95) - Number(a.onTime >= 95) || a.price - b.price);

console.log(`Of ${findings.length} suppliers, ${findings[0].name} is the cheapest that is on time.\n`);
console.log('| supplier | price | days | on time | source |\n| --- | --- | --- | --- | --- |');
for (const { name, price, days, onTime, source } of findings) {
  console.log(`| ${name} | ${price.toFixed(2)} | ${days} | ${onTime} % | ${source} |`);
}
