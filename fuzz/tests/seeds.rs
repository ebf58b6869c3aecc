//! The seeds of every target, and what was found by fuzzing once.

use std::fs;
use std::path::Path;

#[test]
fn every_seed_holds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (name, target) in sansio_mcp_fuzz::TARGETS {
        let folder = fs::read_dir(corpus.join(name)).expect(name);
        let mut seeds: Vec<_> = folder.map(|entry| entry.expect(name).path()).collect();
        seeds.sort();
        assert!(seeds.len() >= 4, "{name} has {} seeds", seeds.len());
        for seed in seeds {
            // Printed when the target panics.
            println!("{}", seed.display());
            target(&fs::read(&seed).expect(name));
        }
    }
}
