//! Encrypted connections: the system's roots, a certificate authority of one's own, or, only when asked, no check at all.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use rustls_platform_verifier::Verifier;

/// Whose certificates are believed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Those that the system's roots vouch for.
    #[default]
    System,
    /// Those, and those of the authority in this PEM file.
    CaFile(PathBuf),
    /// Everybody's. Whoever stands between reads and changes everything, the API key too.
    Insecure,
}

/// Why encrypted connections cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file of the certificate authority.
    #[error("the CA file {} holds no certificate that can be read ({why}); give a PEM file that begins with -----BEGIN CERTIFICATE-----", path.display())]
    CaFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The TLS library.
    #[error("encrypted connections cannot be set up")]
    Setup(#[from] rustls::Error),
}

/// The settings of encrypted connections that speak one of these protocols.
pub(crate) fn config(trust: &Trust, protocols: &[&[u8]]) -> Result<Arc<ClientConfig>, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let verifier = verifier(trust, &provider)?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    Ok(Arc::new(config))
}

fn verifier(
    trust: &Trust,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, TlsError> {
    let provider = Arc::clone(provider);
    Ok(match trust {
        Trust::System => Arc::new(Verifier::new(provider)?),
        Trust::CaFile(path) => Arc::new(Verifier::new_with_extra_roots(
            authorities(path)?,
            provider,
        )?),
        Trust::Insecure => Arc::new(Anybody(provider.signature_verification_algorithms)),
    })
}

fn authorities(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bad = |why: String| TlsError::CaFile {
        path: path.to_owned(),
        why,
    };
    let read = CertificateDer::pem_file_iter(path).map_err(|error| bad(error.to_string()))?;
    let found: Result<Vec<_>, _> = read.collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(bad("none in it".into())),
        Err(error) => Err(bad(error.to_string())),
    }
}

/// Believes every certificate; still checks that the other side holds its key.
#[derive(Debug)]
struct Anybody(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, cert, signed, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, signed, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
