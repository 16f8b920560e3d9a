//! Bundles that only those can read who know a passphrase, in the format of age.

use age::secrecy::SecretString;
use age::{DecryptError, scrypt};

use super::BundleError;

/// The binary logarithm of the rounds that a guess at the passphrase takes; it is what the `age`
/// command uses, whatever this machine is doing at the moment.
const WORK: u8 = 18;

/// The most rounds a file may ask for, as the `age` command has it.
const MAX_WORK: u8 = 22;

/// Encrypts a bundle; the `age` command with `--decrypt` reads it too.
///
/// Takes about a second, on purpose: so does each guess at the passphrase. The same bundle gives
/// other bytes each time.
///
/// # Errors
///
/// [`BundleError::Encryption`].
pub fn encrypt(bundle: &[u8], passphrase: &str) -> Result<Vec<u8>, BundleError> {
    encrypt_with(passphrase, WORK, bundle)
}

fn encrypt_with(passphrase: &str, work: u8, bundle: &[u8]) -> Result<Vec<u8>, BundleError> {
    let mut recipient = scrypt::Recipient::new(SecretString::from(passphrase));
    recipient.set_work_factor(work);
    age::encrypt(&recipient, bundle)
        .map_err(|error| BundleError::Encryption { reason: error.to_string() })
}

/// Decrypts a bundle.
///
/// # Errors
///
/// [`BundleError::WrongPassphrase`], [`BundleError::Encryption`] if it was not encrypted with a
/// passphrase or would take too long, [`BundleError::Damaged`].
pub fn decrypt(bytes: &[u8], passphrase: &str) -> Result<Vec<u8>, BundleError> {
    decrypt_with(&identity(passphrase), bytes)
}

fn identity(passphrase: &str) -> scrypt::Identity {
    let mut identity = scrypt::Identity::new(SecretString::from(passphrase));
    identity.set_max_work_factor(MAX_WORK);
    identity
}

fn decrypt_with(identity: &scrypt::Identity, bytes: &[u8]) -> Result<Vec<u8>, BundleError> {
    age::decrypt(identity, bytes).map_err(|error| match error {
        DecryptError::DecryptionFailed | DecryptError::KeyDecryptionFailed => {
            BundleError::WrongPassphrase
        }
        DecryptError::ExcessiveWork { .. } | DecryptError::NoMatchingKeys => {
            BundleError::Encryption { reason: error.to_string() }
        }
        damaged => BundleError::damaged(damaged),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::{Bundle, BundleLimits};

    /// With so little work that tests are quick.
    fn encrypted(bytes: &[u8]) -> Vec<u8> {
        encrypt_with("open sesame", 2, bytes).unwrap()
    }

    #[test]
    fn the_passphrase_opens_it_and_no_other() {
        let file = encrypted(b"a bundle");
        let unread = Bundle::from_bytes(&file, &BundleLimits::default()).unwrap_err();
        assert!(matches!(unread, BundleError::Encrypted), "{unread}");
        assert_eq!(decrypt(&file, "open sesame").unwrap(), b"a bundle");
        let wrong = decrypt(&file, "open barley").unwrap_err();
        assert!(matches!(wrong, BundleError::WrongPassphrase), "{wrong}");
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_noticed() {
        let (file, identity) = (encrypted(b"a bundle"), identity("open sesame"));
        for end in 0..file.len() {
            assert!(decrypt_with(&identity, &file[..end]).is_err(), "cut at {end}");
        }
        // The number of rounds stands in the first lines: with many, a guess takes long.
        let body = file.windows(4).position(|part| part == b"--- ").unwrap();
        for bit in body * 8..file.len() * 8 {
            let mut file = file.clone();
            file[bit / 8] ^= 1 << (bit % 8);
            assert!(decrypt_with(&identity, &file).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_file_that_would_take_for_ever_is_refused() {
        let head = "age-encryption.org/v1\n-> scrypt AAAAAAAAAAAAAAAAAAAAAA 40\n\
                    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n\
                    --- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n";
        let file = [head.as_bytes(), &[0; 32]].concat();
        assert!(matches!(decrypt(&file, "x").unwrap_err(), BundleError::Encryption { .. }));
    }
}
