//! Damaged artifacts are refused with a message, without any other effect.

use runtime::AlignedBuffer;

use super::*;
use crate::arrays::Array;

/// A product with a weight, which is packed, and a table, which is not.
const TEXT: &str = r#"func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = nn.constant dense_resource<w> : tensor<8x8xf32>
  %0 = nn.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = nn.exp %0 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
"#;

fn module() -> Module {
    let weight: Vec<u8> = (0..64).flat_map(|k| (k as f32 / 64.0).to_le_bytes()).collect();
    let resources = [("w".to_owned(), Blob::from_bytes(weight))];
    parse_stored("test", TEXT.to_owned(), resources.into_iter(), Given::All, []).unwrap()
}

fn input() -> Array {
    Array::f32("x", &[4, 8], &(0..32).map(|k| k as f32 / 32.0).collect::<Vec<_>>())
}

fn built() -> BuiltArtifact {
    Artifact::build(&module(), &CompileOptions { threads: 1, ..CompileOptions::default() }).unwrap()
}

/// The bytes of an artifact.
fn bytes(built: &BuiltArtifact) -> Vec<u8> {
    let mut bytes = Vec::new();
    built.write_to(&mut bytes).unwrap();
    bytes
}

fn open(bytes: &[u8]) -> Result<Artifact, Failure> {
    let mut buffer = AlignedBuffer::zeroed(bytes.len()).unwrap();
    buffer.as_mut_slice().copy_from_slice(bytes);
    Artifact::from_bytes("m.optc", Arc::new(buffer))
}

/// The results of running an artifact.
fn results(bytes: &[u8], options: &ArtifactOptions) -> Result<Vec<Array>, Failure> {
    open(bytes)?.model(options)?.run(&[input()])
}

/// The reason why an artifact does not run.
fn refusal(built: &BuiltArtifact) -> String {
    results(&bytes(built), &ArtifactOptions::default()).unwrap_err().to_string()
}

const RECOMPILED: ArtifactOptions =
    ArtifactOptions { threads: None, code: ArtifactCode::Recompiled, cpu: None };

#[test]
fn it_computes_what_its_program_does_and_makes_nothing() {
    let expected = Model::compile(&mut module(), &CompileOptions { threads: 1, ..CompileOptions::default() });
    let expected = expected.unwrap().run(&[input()]).unwrap();
    let bytes = bytes(&built());
    assert_eq!(results(&bytes, &ArtifactOptions::default()).unwrap(), expected);
    assert_eq!(results(&bytes, &RECOMPILED).unwrap(), expected);
    let (mut module, options) = open(&bytes).unwrap().program(&ArtifactOptions::default()).unwrap();
    Model::compile(&mut module, &options).unwrap();
    assert_eq!(options.prepared.unwrap().missed(), Default::default());
    assert_eq!(text(&open(&bytes).unwrap().source().unwrap()), text(&self::module()));
}

#[test]
fn every_damaged_byte_is_found_or_harmless() {
    let (good, expected) = (bytes(&built()), results(&bytes(&built()), &ArtifactOptions::default()).unwrap());
    let (mut found, mut harmless) = (0, 0);
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        let run = || -> Result<Vec<Array>, Failure> {
            let artifact = open(&bad)?;
            // Most harmless bytes are padding between sections, so a sample of them is run.
            let (mut module, options) = artifact.program(&ArtifactOptions::default())?;
            if at % 16 == 0 {
                Model::compile(&mut module, &options)?.run(&[input()])
            } else {
                Ok(expected.clone())
            }
        };
        match run() {
            Ok(outputs) => {
                harmless += 1;
                assert_eq!(outputs, expected, "byte {at}");
            }
            Err(_) => found += 1,
        }
    }
    assert!(found > 2000 && harmless > 2000, "{found} were found, {harmless} were harmless");
}

#[test]
fn no_damaged_constant_is_read() {
    let good = bytes(&built());
    let (stored, header) = StoredArtifact::open(Arc::new(good.clone())).unwrap();
    let constant = stored.resources(&header).unwrap().remove(0).1;
    assert_eq!(constant.check(), Ok(()));
    let content = constant.to_vec();
    let at = good.windows(content.len()).rposition(|window| window == content).unwrap();
    for byte in [0, 100, 255] {
        let mut bad = good.clone();
        bad[at + byte] ^= 4;
        let fault = results(&bad, &RECOMPILED).unwrap_err().to_string();
        assert!(fault.contains("resource `w`: the constant is damaged"), "{fault}");
    }
}

#[test]
fn every_shorter_file_is_refused() {
    let good = bytes(&built());
    for length in 0..good.len() {
        let shorter = open(&good[..length]).and_then(|artifact| {
            artifact.source()?;
            artifact.program(&ArtifactOptions::default()).map(|_| ())
        });
        assert!(shorter.is_err(), "{length} of {} bytes", good.len());
    }
}

#[test]
fn machine_code_that_does_not_run_here_is_refused_with_the_reason() {
    let help = "; `--recompile` compiles the IR inside";
    let start = "error: m.optc: its machine code can't run: it ";
    let mut other = built();
    other.header.build = "0.0.1+0".to_owned();
    assert_eq!(refusal(&other), format!("{start}was built by optc 0.0.1+0, and this is {BUILD}{help}"));
    assert!(results(&bytes(&other), &RECOMPILED).is_ok());
    other.header.architecture = "pdp11".to_owned();
    let here = std::env::consts::ARCH;
    assert_eq!(refusal(&other), format!("{start}is for pdp11, and this is {here}{help}"));
    let mut other = built();
    other.header.cpu = "x86-64-v9".to_owned();
    let why = "is for `x86-64-v9`, which is no processor that is known here";
    assert_eq!(refusal(&other), format!("{start}{why}{help}"));
    let mut other = built();
    other.header.pairs = "AMX-2".to_owned();
    assert!(results(&bytes(&other), &ArtifactOptions::default()).is_ok(), "it multiplies f32");
    other.header.precision = "bf16".to_owned();
    let here = PairUnit::fastest(Isa::detect()).name();
    let why = |other: &str| format!("multiplies bf16 by {other}, and this machine by {here}");
    assert_eq!(refusal(&other), format!("{start}{}{help}", why("AMX-2")));
    // One that this machine has, but does not choose.
    for slower in PairUnit::available(Isa::detect()).into_iter().map(PairUnit::name) {
        other.header.pairs = slower.to_owned();
        if slower == here {
            assert!(results(&bytes(&other), &ArtifactOptions::default()).is_ok());
        } else {
            assert_eq!(refusal(&other), format!("{start}{}{help}", why(slower)));
        }
    }
}

#[test]
fn code_and_weights_of_another_program_are_not_taken() {
    let mut other = built();
    let images = std::mem::take(&mut other.contents.images);
    let (mut module, options) = open(&bytes(&other)).unwrap().program(&ArtifactOptions::default()).unwrap();
    Model::compile(&mut module, &options).unwrap();
    assert_eq!(options.prepared.unwrap().missed().functions, 1, "code that is not there is made");
    let mut image = (*images[0].1).clone();
    image.functions[0].name = "another".to_owned();
    other.contents.images = vec![("main".to_owned(), Arc::new(image))];
    assert_eq!(refusal(&other), "error: the machine code is that of another program");
}

#[test]
fn a_file_is_replaced_as_a_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.optc");
    built().write(&path).unwrap();
    assert!(is_artifact(&path));
    let before = fs::read(&path).unwrap();
    built().write(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), before, "the same program gives the same bytes");
    let entries = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(entries, 1, "no other file is left");
    assert!(built().write(folder.path()).unwrap_err().to_string().contains("directory"));
    let missing = folder.path().join("none/m.optc");
    assert!(built().write(&missing).is_err());
    assert!(!is_artifact(&missing) && !is_artifact(folder.path()));
}

#[test]
fn without_its_source_it_is_smaller_and_runs_alike() {
    let whole = bytes(&built());
    let stripped = built().without_source().unwrap();
    assert_eq!(stripped.summary().constants_bytes, 0, "the only constant is packed");
    let stripped = bytes(&stripped);
    let constants = StoredArtifact::open(Arc::new(whole.clone())).unwrap().1.resources.len();
    assert!(stripped.len() < whole.len() && constants == 1);
    let results = |bytes: &[u8]| results(bytes, &ArtifactOptions::default()).unwrap();
    assert_eq!(results(&stripped), results(&whole));
    let (mut module, options) = open(&stripped).unwrap().program(&ArtifactOptions::default()).unwrap();
    Model::compile(&mut module, &options).unwrap();
    assert_eq!(options.prepared.unwrap().missed(), Default::default());
    let refused = open(&stripped).unwrap().model(&RECOMPILED).err().unwrap().to_string();
    assert!(refused.contains("source was left out"), "{refused}");
    // Missing constants are not taken for zeros.
    let plan = open(&stripped).unwrap().plan().unwrap();
    let alone = CompileOptions { threads: 1, ..CompileOptions::default() };
    let fault = Model::compile(&mut plan.clone(), &alone).err().unwrap().to_string();
    assert!(fault.contains("no data for resource `w`"), "{fault}");
}

#[test]
fn a_constant_that_is_a_weight_as_it_is_stands_in_the_file_once() {
    let text = "func.func @main(%rows: tensor<2xi64>) -> tensor<2x512xf32> {
  %table = nn.constant dense_resource<t> : tensor<3x512xf32>
  %0 = nn.gather %table, %rows {axis = 0 : i64} : (tensor<3x512xf32>, tensor<2xi64>) -> tensor<2x512xf32>
  return %0 : tensor<2x512xf32>
}";
    let table: Vec<u8> = (0..3 * 512).flat_map(|k| (k as f32).to_le_bytes()).collect();
    let resources = [("t".to_owned(), Blob::from_bytes(table.clone()))];
    let module = parse_stored("test", text.to_owned(), resources.into_iter(), Given::All, []).unwrap();
    let built = Artifact::build(&module, &CompileOptions { threads: 1, ..CompileOptions::default() });
    let bytes = bytes(&built.unwrap());
    let found = bytes.windows(table.len()).filter(|window| *window == table).count();
    assert_eq!(found, 1);
    let rows = [2i64, 0].iter().flat_map(|row| row.to_le_bytes()).collect();
    let element = runtime::ElementKind::I64;
    let rows = Array { name: "rows".into(), element, shape: vec![2], bytes: rows };
    for options in [ArtifactOptions::default(), RECOMPILED] {
        let outputs =
            open(&bytes).unwrap().model(&options).unwrap().run(std::slice::from_ref(&rows)).unwrap();
        assert_eq!(outputs[0].bytes[..2048], table[4096..]);
    }
}
