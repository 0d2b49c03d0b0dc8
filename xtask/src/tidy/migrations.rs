//! Both databases have the same migrations, by name.

use super::Tree;
use std::collections::BTreeSet;
use std::path::Path;

/// One finding for each migration that one database has and the other lacks.
pub fn check(tree: &Tree) -> Vec<String> {
    let of = |database: &str| names(&tree.files, &format!("migrations/{database}"));
    compare(&of("sqlite"), &of("postgres"))
}

fn names<P: AsRef<Path>>(files: &[P], folder: &str) -> BTreeSet<String> {
    let inside = files
        .iter()
        .filter_map(|file| file.as_ref().strip_prefix(folder).ok());
    inside
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}

fn compare(sqlite: &BTreeSet<String>, postgres: &BTreeSet<String>) -> Vec<String> {
    let lacking = |name: &String, has: &str, lacks: &str| {
        format!("migrations/{has}/{name}: migrations/{lacks} has none of that name")
    };
    let for_postgres = sqlite
        .difference(postgres)
        .map(|name| lacking(name, "sqlite", "postgres"));
    let for_sqlite = postgres
        .difference(sqlite)
        .map(|name| lacking(name, "postgres", "sqlite"));
    for_postgres.chain(for_sqlite).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_migration_for_one_database_alone_is_found() {
        let files = [
            "migrations/sqlite/0001_a.sql",
            "migrations/postgres/0001_a.sql",
            "migrations/postgres/0002_b.sql",
        ];
        let found = compare(
            &names(&files, "migrations/sqlite"),
            &names(&files, "migrations/postgres"),
        );
        assert_eq!(
            found,
            ["migrations/postgres/0002_b.sql: migrations/sqlite has none of that name"]
        );
    }
}
