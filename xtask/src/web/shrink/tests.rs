use super::*;
use wasm_encoder::{
    ConstExpr, ElementSection, Elements, ExportKind, ExportSection, NameMap, NameSection, RefType,
    TableSection, TableType, TypeSection, ValType,
};

/// Three functions: `main` calls the other two, one of them through a table; the names are theirs.
fn module(names: [&str; 3]) -> Vec<u8> {
    let mut types = TypeSection::new();
    types.ty().function([], [ValType::I32]);
    let mut functions = FunctionSection::new();
    (0..3).for_each(|_| {
        functions.function(0);
    });
    let mut tables = TableSection::new();
    tables.table(TableType {
        element_type: RefType::FUNCREF,
        table64: false,
        minimum: 1,
        maximum: None,
        shared: false,
    });
    let mut exports = ExportSection::new();
    exports.export("main", ExportKind::Func, 0);
    let mut elements = ElementSection::new();
    elements.active(
        None,
        &ConstExpr::i32_const(0),
        Elements::Functions((&[2][..]).into()),
    );
    let mut code = CodeSection::new();
    for instructions in [
        vec![Instruction::Call(1)],
        vec![Instruction::I32Const(7)],
        (0..9)
            .flat_map(|_| [Instruction::I32Const(9), Instruction::Drop])
            .chain([Instruction::I32Const(9)])
            .collect(),
    ] {
        let mut function = Function::new([]);
        for instruction in &instructions {
            function.instruction(instruction);
        }
        function.instruction(&Instruction::End);
        code.function(&function);
    }
    let mut map = NameMap::new();
    for (index, name) in (0..).zip(names) {
        map.append(index, name);
    }
    let mut name_section = NameSection::new();
    name_section.functions(&map);
    let mut module = Module::new();
    module.section(&types).section(&functions).section(&tables);
    module.section(&exports).section(&elements).section(&code);
    module.section(&name_section);
    module.finish()
}

/// A module as text: its exports, table, and bodies by number.
fn outline(module: &[u8]) -> (Vec<u32>, Vec<u32>, Vec<Vec<u8>>) {
    let (mut exports, mut table, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
    for payload in Parser::new(0).parse_all(module) {
        match payload.expect("payload") {
            Payload::ExportSection(section) => {
                exports.extend(
                    section
                        .into_iter()
                        .map(|export| export.expect("export").index),
                );
            }
            Payload::ElementSection(section) => {
                for element in section {
                    if let wasmparser::ElementItems::Functions(items) =
                        element.expect("element").items
                    {
                        table.extend(items.into_iter().map(|item| item.expect("item")));
                    }
                }
            }
            Payload::CodeSectionEntry(body) => bodies.push(module[body.range()].to_vec()),
            _ => {}
        }
    }
    (exports, table, bodies)
}

#[test]
fn only_the_idle_way_is_emptied() {
    let names = [
        "main",
        "_ZN6tachys8into_any13hydrate_async17h0123456789abcdefE",
        "_ZN6tachys8into_any7hydrate17h0123456789abcdefE",
    ];
    let before = module(names);
    let (exports, table, bodies) = outline(&without_idle(&before).expect("emptied"));
    let (_, _, whole) = outline(&before);
    assert_eq!((exports, table), (vec![0], vec![2]));
    // No locals, `unreachable`, `end`.
    assert_eq!(
        bodies,
        [whole[0].clone(), vec![0, 0x00, 0x0b], whole[2].clone()]
    );
}

#[test]
fn an_idle_function_is_known_by_its_whole_name() {
    for name in [
        "<T as tachys::view::any_view::IntoAny>::into_any::hydrate_async",
        "<T as tachys::view::any_view::IntoAny>::into_any::hydrate_async::{{closure}}",
        "<A as tachys::view::any_view::IntoAny>::into_any::hydrate_async::<B<C>>::{closure#0}",
        "intounderlyingsource_pull",
        "__wbg_intounderlyingsink_free",
        "<wasm_streams::readable::Source>::pull::{closure#0}",
        "wasm_streams::readable::Source::pull::{{closure}}",
    ] {
        assert!(is_idle(name), "{name}");
    }
    for name in [
        "<wasm_streams::readable::Source>::pull",
        "core::ptr::drop_in_place<wasm_streams::readable::Source::pull::{{closure}}>",
        "tachys::view::hydrate",
        "<A as tachys::view::RenderHtml>::hydrate_async",
        "tachys::view::hydrate_async::{{closure}}::{{closure}}",
        "tachys::view::hydrate_async::<T>::{closure#0}::{closure#0}",
        "core::ptr::drop_in_place<tachys::view::hydrate_async::{{closure}}>",
    ] {
        assert!(!is_idle(name), "{name}");
    }
}

#[test]
fn whoever_names_a_function_finds_it_at_its_new_place() {
    let before = module(["main", "seven", "nine"]);
    let after = neighbours(&before).expect("ordered");
    wasmparser::validate(&after).expect("valid");
    let (_, _, whole) = outline(&before);
    let (exports, table, bodies) = outline(&after);
    // The largest is first; of two equally small ones the earlier.
    assert_eq!((exports, table), (vec![1], vec![0]));
    assert_eq!(bodies[0], whole[2]);
    assert_eq!(bodies[2], whole[1]);
    // No locals, `call 2`, `end`.
    assert_eq!(bodies[1], [0, 0x10, 2, 0x0b]);
}

#[test]
fn what_is_no_module_is_refused() {
    assert!(without_idle(b"page not found").is_err());
    assert!(neighbours(b"\0asm").is_err());
}
