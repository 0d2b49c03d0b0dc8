//! What people keep beside studies: engines, named SLOs, and the studio's own settings.

use app::studio::{EngineRow, NamedSlo, ProbeReport};
use measure::study::Endpoint;
use uuid::Uuid;

use super::rows::{from_json, to_json};
use super::{Store, StoreError, changing, clean, reading, writing};

impl Store {
    /// Engines that were added, by name.
    pub async fn engines(&self) -> Result<Vec<EngineRow>, StoreError> {
        const SQL: &str = "SELECT id, name, endpoint, probe FROM engines ORDER BY name";
        let rows: Vec<(Uuid, String, String, Option<String>)> =
            reading!(self, |pool| sqlx::query_as(SQL).fetch_all(pool).await?);
        let read = |(id, name, endpoint, probe): (Uuid, String, String, Option<String>)| {
            let probe = probe.map(|probe| from_json("probe", &probe)).transpose()?;
            Ok(EngineRow {
                id,
                name,
                endpoint: from_json("endpoint", &endpoint)?,
                probe,
                managed: None,
            })
        };
        rows.into_iter().map(read).collect()
    }

    /// Adds an engine, or replaces the one of that name; its id.
    pub async fn save_engine(
        &self,
        name: &str,
        endpoint: &Endpoint,
        probe: Option<&ProbeReport>,
    ) -> Result<Uuid, StoreError> {
        const SQL: &str = "INSERT INTO engines (id, name, endpoint, probe) VALUES ($1, $2, $3, $4) \
                           ON CONFLICT (name) DO UPDATE SET endpoint = excluded.endpoint, probe = excluded.probe RETURNING id";
        let endpoint = to_json("endpoint", endpoint)?;
        let probe = probe.map(|probe| to_json("probe", probe)).transpose()?;
        let id = Uuid::now_v7();
        Ok(writing!(self, |tx| sqlx::query_scalar(SQL)
            .bind(id)
            .bind(clean(name))
            .bind(&endpoint)
            .bind(&probe)
            .fetch_one(&mut *tx)
            .await?))
    }

    /// Keeps what the last probe of an engine said.
    pub async fn save_probe(&self, engine: Uuid, probe: &ProbeReport) -> Result<(), StoreError> {
        let probe = to_json("probe", probe)?;
        changing!(
            self,
            sqlx::query("UPDATE engines SET probe = $2 WHERE id = $1")
                .bind(engine)
                .bind(&probe)
        );
        Ok(())
    }

    /// Forgets an engine; whether it was there.
    pub async fn delete_engine(&self, id: Uuid) -> Result<bool, StoreError> {
        const SQL: &str = "DELETE FROM engines WHERE id = $1";
        Ok(0 < changing!(self, sqlx::query(SQL).bind(id)))
    }

    /// Named SLOs, by name.
    pub async fn slos(&self) -> Result<Vec<NamedSlo>, StoreError> {
        const SQL: &str = "SELECT name, slo FROM slos ORDER BY name";
        let rows: Vec<(String, String)> =
            reading!(self, |pool| sqlx::query_as(SQL).fetch_all(pool).await?);
        let read = |(name, slo): (String, String)| match slo.parse() {
            Ok(slo) => Ok(NamedSlo { name, slo }),
            Err(_) => Err(StoreError::UnknownValue {
                what: "SLO",
                value: slo,
            }),
        };
        rows.into_iter().map(read).collect()
    }

    /// Adds or replaces a named SLO.
    pub async fn save_slo(&self, slo: &NamedSlo) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO slos (name, slo) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET slo = excluded.slo";
        let NamedSlo { name, slo } = slo;
        changing!(
            self,
            sqlx::query(SQL).bind(clean(name)).bind(slo.to_string())
        );
        Ok(())
    }

    /// Forgets a named SLO; whether it was there.
    pub async fn delete_slo(&self, name: &str) -> Result<bool, StoreError> {
        const SQL: &str = "DELETE FROM slos WHERE name = $1";
        Ok(0 < changing!(self, sqlx::query(SQL).bind(clean(name))))
    }

    /// A setting of the studio itself.
    pub async fn setting(&self, key: &str) -> Result<Option<String>, StoreError> {
        const SQL: &str = "SELECT value FROM settings WHERE key = $1";
        Ok(reading!(self, |pool| sqlx::query_scalar(SQL)
            .bind(key)
            .fetch_optional(pool)
            .await?))
    }

    /// Sets a setting, or forgets it (`None`).
    pub async fn set_setting(&self, key: &str, value: Option<&str>) -> Result<(), StoreError> {
        const SET: &str = "INSERT INTO settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
        const FORGET: &str = "DELETE FROM settings WHERE key = $1";
        writing!(self, |tx| match value {
            Some(value) => sqlx::query(SET)
                .bind(clean(key))
                .bind(clean(value))
                .execute(&mut *tx)
                .await?
                .rows_affected(),
            None => sqlx::query(FORGET)
                .bind(clean(key))
                .execute(&mut *tx)
                .await?
                .rows_affected(),
        });
        Ok(())
    }
}
